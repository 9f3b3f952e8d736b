import { eventTypes, finalities } from '../streaming/changes.ts';
import { describeStreaming } from './openapi-streaming.ts';
import { docsPage, documentCache, page, type Page } from './pages.ts';
import { basePaths, ssePath, wsPath } from './paths.ts';

const scriptPath = `${basePaths.streaming}/live.js`;

/** Pages of streaming by path: the protocol with a form that opens a stream, and the document with its reader. */
export function streamingPages(version: string): ReadonlyMap<string, Page> {
  const document = JSON.stringify(describeStreaming(version));
  return new Map([
    [basePaths.streaming, page('text/html; charset=utf-8', html, documentCache)],
    [scriptPath, page('text/javascript; charset=utf-8', script, documentCache)],
    [`${basePaths.streaming}/openapi.json`, page('application/json', document, documentCache)],
    [`${basePaths.streaming}/docs`, docsPage('streaming')],
  ]);
}

const checks = eventTypes
  .map((type) => `<label><input type="checkbox" name="types" value="${type}"> <code>${type}</code></label>`)
  .join('\n');

const levels = finalities
  .map((level) => `<option${level === 'finalized' ? ' selected' : ''}>${level}</option>`)
  .join('');

const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>TON streaming API v2</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
label { display: block; margin: .3rem 0; }
textarea, input[type=text] { width: 100%; box-sizing: border-box; font-family: monospace; }
table { border-collapse: collapse; } td, th { border: 1px solid #bbb; padding: .2rem .5rem; text-align: left; }
pre { background: #f4f4f4; color: #111; padding: .5rem; overflow: auto; max-height: 30rem; white-space: pre-wrap; }
</style>
</head>
<body>
<h1>TON streaming API v2</h1>
<p>Events of accounts and traces as they happen. The objects in events are those of <a href="/api/v3">v3</a>.
The <a href="${basePaths.streaming}/docs">document</a> has all fields of a subscription, and the
<a href="${basePaths.streaming}/openapi.json">JSON schemas</a> of all messages and events.</p>
<table>
<tr><th>Transport</th><th>Use</th></tr>
<tr><td><code>POST ${ssePath}</code></td><td>The body is the subscription. The answer is a stream of server-sent events.</td></tr>
<tr><td><code>GET ${ssePath}</code></td><td>The same from query parameters, for <code>EventSource</code>.</td></tr>
<tr><td><code>${wsPath}</code></td><td>WebSocket: messages with <code>operation</code> <code>subscribe</code>, <code>unsubscribe</code> or <code>ping</code>.</td></tr>
</table>
<p>A level is <code>pending</code> (simulated), <code>confirmed</code> (in a signed shard block) or <code>finalized</code> (in a masterchain block).
<code>confirmed</code> needs a lite server that names signed shard blocks: <code>${basePaths.streaming}/healthz</code> lists the levels
that exist now. Each event has a <code>cursor</code>, from which a later connection resumes.
After <code>trace_invalidated</code>, drop all that you have of the trace.</p>
<h2>Try it</h2>
<form id="form">
<fieldset><legend>Types</legend>
${checks}
</fieldset>
<label>Addresses, one a line <textarea name="addresses" rows="3"></textarea></label>
<label>Hashes of external messages, one a line <textarea name="traces" rows="2"></textarea></label>
<label>From level <select name="min_finality">${levels}</select></label>
<label>API key <input type="text" name="key" autocomplete="off"></label>
<label>Transport <select name="transport"><option value="sse">EventSource</option><option value="ws">WebSocket</option></select></label>
<button type="submit">Open</button> <button type="button" id="close">Close</button>
</form>
<p id="state">closed</p>
<pre id="events"></pre>
<script src="${scriptPath}"></script>
</body>
</html>
`;

/** Shows the newest 200 messages. */
const script = `const form = document.getElementById('form');
const state = document.getElementById('state');
const events = document.getElementById('events');
const lines = [];
let stream;

const show = (text) => {
  lines.unshift(text);
  lines.length = Math.min(lines.length, 200);
  events.textContent = lines.join('\\n');
};

const close = (why) => {
  if (stream !== undefined) stream.close();
  stream = undefined;
  state.textContent = why;
};

const list = (text) => text.split(/\\s+/).filter((part) => part !== '');

const openSse = (wish, key) => {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(wish)) for (const one of [value].flat()) query.append(name, one);
  if (key !== '') query.set('api_key', key);
  const source = new EventSource('${ssePath}?' + query);
  source.addEventListener('connected', (event) => { state.textContent = 'open'; show(event.data); });
  source.addEventListener('close', (event) => show(event.data));
  source.onmessage = (event) => show(event.data);
  source.onerror = () => { state.textContent = source.readyState === EventSource.CLOSED ? 'refused' : 'connecting'; };
  return source;
};

const openWs = (wish, key) => {
  const url = new URL('${wsPath}', location.href);
  url.protocol = location.protocol === 'https:' ? 'wss:' : 'ws:';
  if (key !== '') url.searchParams.set('api_key', key);
  const socket = new WebSocket(url);
  socket.onopen = () => { state.textContent = 'open'; socket.send(JSON.stringify({ operation: 'subscribe', ...wish })); };
  socket.onmessage = (event) => show(event.data);
  socket.onclose = (event) => { if (stream === socket) state.textContent = ('closed ' + event.code + ' ' + event.reason).trim(); };
  return socket;
};

form.addEventListener('submit', (event) => {
  event.preventDefault();
  close('connecting');
  const data = new FormData(form);
  const wish = {
    types: data.getAll('types'),
    addresses: list(data.get('addresses')),
    trace_external_hash_norms: list(data.get('traces')),
    min_finality: data.get('min_finality'),
  };
  const key = data.get('key').trim();
  stream = data.get('transport') === 'ws' ? openWs(wish, key) : openSse(wish, key);
});
document.getElementById('close').addEventListener('click', () => close('closed'));
`;
