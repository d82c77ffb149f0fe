// Follows a question with Node's own EventSource over a network that breaks, and prints what it told as one JSON
// object.
//
//   node --experimental-eventsource returning-event-source.mjs URL[,URL…] TOKEN LOSSES
//
// An EventSource names no user, so a small server in between adds the token and hands everything on as it comes, but
// LOSSES times it destroys the connection behind the first piece of the answer that came over it. Coming back with
// Last-Event-ID is Node's; each time it is led to the next URL.
import http from 'node:http'

const [list, token, losses] = process.argv.slice(2)
const urls = list.split(',')
const told = { connections: 0, losses: 0, events: [] }

const server = http.createServer((request, response) => {
  const url = urls[told.connections % urls.length]
  told.connections += 1
  const headers = { authorization: `Bearer ${token}` }
  if (request.headers['last-event-id']) headers['last-event-id'] = request.headers['last-event-id']
  const upstream = http.request(url, { method: 'GET', headers }, (answer) => {
    response.writeHead(answer.statusCode, { 'content-type': answer.headers['content-type'] ?? 'text/plain' })
    if (answer.statusCode === 200) response.write('retry: 50\n\n')
    let heard = ''
    answer.on('data', (bytes) => {
      if (response.destroyed) return
      if (told.losses >= Number(losses)) return response.write(bytes)
      const begin = heard.length
      heard += bytes.toString('latin1')
      const piece = heard.indexOf('event: answer')
      const end = piece < 0 ? -1 : heard.indexOf('\n\n', piece)
      if (end < 0) return response.write(bytes)
      // What is written is on its way; then the network is gone.
      response.write(bytes.subarray(0, end + 2 - begin))
      answer.removeAllListeners('data')
      setTimeout(() => { told.losses += 1; response.destroy(); upstream.destroy() }, 10)
    })
    answer.on('end', () => response.end())
    answer.on('error', () => response.destroy())
  })
  upstream.on('error', () => response.destroy())
  upstream.end()
})

server.listen(0, '127.0.0.1', () => {
  const source = new EventSource(`http://127.0.0.1:${server.address().port}/`)
  const hear = (event) => {
    if (event.data === undefined) return
    told.events.push({ type: event.type, data: event.data, id: event.lastEventId })
    if (event.type !== 'finish' && event.type !== 'error') return
    source.close()
    console.log(JSON.stringify(told))
    process.exit(0)
  }
  for (const type of ['start', 'answer', 'finish', 'error']) source.addEventListener(type, hear)
})
