"""Plays the unmodified OpenAI client library against a gateway.

Prints one JSON object: what the library gave its caller. Judging it is the test's part.

  openai-client.py BASE_URL TOKEN PLAY [ARGUMENT as JSON]
"""

import asyncio
import json
import sys
import time

import openai

QUESTION = [{"role": "user", "content": "The harbour opened at dawn and the boats came in."}]


def told(error):
    """What an application sees of an error."""
    result = {"class": type(error).__name__, "message": getattr(error, "message", str(error))}
    for name in ("code", "param", "type", "status_code", "request_id"):
        result[name] = getattr(error, name, None)
    response = getattr(error, "response", None)
    if response is not None:
        result["headers"] = {name.lower(): value for name, value in response.headers.items()}
    return result


def chunks(stream):
    """Gathers a stream as applications do, by the first choice of every chunk that has one."""
    result = {"text": "", "roles": [], "finish": [], "usage": None, "usages": 0, "empty": 0, "ids": [], "models": []}
    for chunk in stream:
        result["ids"].append(chunk.id)
        result["models"].append(chunk.model)
        if chunk.usage is not None:
            result["usages"] += 1
            result["usage"] = chunk.usage.to_dict()
        if not chunk.choices:
            result["empty"] += 1
            continue
        choice = chunk.choices[0]
        result["text"] += choice.delta.content or ""
        if choice.delta.role:
            result["roles"].append(choice.delta.role)
        if choice.finish_reason:
            result["finish"].append(choice.finish_reason)
    result["ids"] = sorted(set(result["ids"]))
    result["models"] = sorted(set(result["models"]))
    return result


class Plays:
    def __init__(self, base, token):
        self.base, self.token = base, token

    def client(self, kind=openai.OpenAI, **options):
        return kind(base_url=self.base, api_key=self.token, **{"max_retries": 0, "timeout": 170, **options})

    def asked(self, more):
        return {"model": "summarize", "messages": QUESTION, **more}

    def models(self, more):
        client = self.client()
        return {"ids": [model.id for model in client.models.list()], "one": client.models.retrieve(more["id"]).id}

    def plain(self, more):
        raw = self.client().chat.completions.with_raw_response.create(**self.asked(more))
        answer = raw.parse()
        choice = answer.choices[0]
        return {
            "text": choice.message.content,
            "role": choice.message.role,
            "finish": choice.finish_reason,
            "usage": answer.usage.to_dict(),
            "id": answer.id,
            "model": answer.model,
            "request_id": answer._request_id if answer._request_id else raw.headers.get("x-request-id"),
            "created": answer.created,
        }

    def stream(self, more):
        return chunks(self.client().chat.completions.create(stream=True, **self.asked(more)))

    def helper(self, more):
        """The library's own gathering of a stream."""
        with self.client().chat.completions.stream(**self.asked(more)) as stream:
            for _ in stream:
                pass
            answer = stream.get_final_completion()
        return {"text": answer.choices[0].message.content, "finish": answer.choices[0].finish_reason}

    def parallel(self, more):
        """Plain and streamed asks at once, on one asynchronous client."""

        async def run():
            async with self.client(openai.AsyncOpenAI) as client:
                async def whole():
                    answer = await client.chat.completions.create(**self.asked(more))
                    return answer.choices[0].message.content

                async def pieces():
                    text = ""
                    async for chunk in await client.chat.completions.create(stream=True, **self.asked(more)):
                        if chunk.choices:
                            text += chunk.choices[0].delta.content or ""
                    return text

                return await asyncio.gather(*[whole() if n % 2 else pieces() for n in range(8)])

        return {"texts": asyncio.run(run())}

    def broken(self, more):
        """A stream that fails: what came before, and the error."""
        text = ""
        try:
            for chunk in self.client().chat.completions.create(stream=True, **self.asked(more)):
                if chunk.choices:
                    text += chunk.choices[0].delta.content or ""
        except openai.APIError as error:
            return {"text": text, "error": told(error)}
        return {"text": text, "error": None}

    def error(self, more):
        """One ask that is refused; `options` are the client's, and `token` replaces the caller's."""
        options = more.pop("options", {})
        self.token = more.pop("token", self.token)
        begin = time.monotonic()
        try:
            self.client(**options).chat.completions.create(**self.asked(more))
        except openai.APIError as error:
            return {**told(error), "seconds": time.monotonic() - begin}
        return {"class": None}

    def retried(self, more):
        """An ask that the library tries again by itself."""
        begin = time.monotonic()
        answer = self.client(**more.pop("options")).chat.completions.create(**self.asked(more))
        return {"text": answer.choices[0].message.content, "seconds": time.monotonic() - begin}

    def hangs_up(self, more):
        """Leaves a stream after a few chunks, as applications do by closing it."""
        stream = self.client().chat.completions.create(stream=True, **self.asked(more))
        seen = 0
        for _ in stream:
            seen += 1
            if seen == 3:
                break
        stream.close()
        return {"seen": seen}


def main():
    base, token, play = sys.argv[1:4]
    more = json.loads(sys.argv[4]) if len(sys.argv) > 4 else {}
    print(json.dumps(getattr(Plays(base, token), play)(more)))


main()
