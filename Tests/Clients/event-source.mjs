// Reads a streamed answer with Node's own EventSource and prints what it told, as one JSON object.
//
//   node --experimental-eventsource event-source.mjs URL TOKEN BODY
//
// An EventSource can only GET and names no user, so a small server in between posts for it and hands on status, media
// type and every byte as it comes. Parsing, types, comments and the end are Node's.
import http from 'node:http'

const [url, token, body] = process.argv.slice(2)
const told = { opened: false, events: [] }

const server = http.createServer((request, response) => {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const upstream = http.request(url, { method: 'POST', headers }, (answer) => {
    response.writeHead(answer.statusCode, { 'content-type': answer.headers['content-type'] })
    answer.on('data', (bytes) => response.write(bytes))
    answer.on('end', () => response.end())
    answer.on('error', () => response.destroy())
  })
  upstream.end(body)
})

server.listen(0, '127.0.0.1', () => {
  const source = new EventSource(`http://127.0.0.1:${server.address().port}/`)
  source.onopen = () => { told.opened = true }
  const hear = (event) => {
    if (event.data === undefined) return finish()
    told.events.push({ type: event.type, data: event.data, id: event.lastEventId })
  }
  for (const type of ['message', 'start', 'answer', 'finish', 'error']) source.addEventListener(type, hear)
  // The error event of the API itself, which has no data: the connection ended, and it would ask again.
  const finish = () => {
    source.close()
    console.log(JSON.stringify(told))
    process.exit(0)
  }
})
