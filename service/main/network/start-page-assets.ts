/** Style of the start page. */
export const startPageStyle = `:root { color-scheme: light dark; font: 15px/1.45 system-ui, sans-serif; }
body { margin: 1.5rem; max-width: 75rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.05rem; margin: 1.5rem 0 0.3rem; }
a { margin-right: 1rem; }
table { border-collapse: collapse; }
th, td { text-align: left; padding: 0.15rem 0.9rem 0.15rem 0; border-bottom: 1px solid #8884; vertical-align: top; overflow-wrap: break-word; }
td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td.code { overflow-wrap: anywhere; }
td.code, input { font-family: ui-monospace, monospace; font-size: 0.85rem; }
label { margin-right: 1rem; }
input { max-width: 100%; box-sizing: border-box; }
@media (max-width: 40rem) { td.number { white-space: normal; } th, td { padding-right: 0.4rem; } }
`;

/**
 * Script of the start page: reads the facts every two seconds and writes them as text. Values of the network never become markup.
 * After a failed answer the shown facts stay, and the state reports it.
 */
export const startPageScript = `'use strict';
const byId = (id) => document.getElementById(id);
const everyMs = 2000;
const transactionsMax = 10;

function cell(text, kind) {
  const element = document.createElement('td');
  if (kind !== undefined) element.className = kind;
  element.textContent = text;
  return element;
}

/** The value is an address or a hash: its characters beyond letters and digits are escaped. */
function linked(text, kind) {
  const element = cell('', 'code');
  const link = document.createElement('a');
  link.href = '/explorer/' + kind + '/' + encodeURIComponent(text);
  link.textContent = text;
  element.append(link);
  return element;
}

function fill(table, rows) {
  table.replaceChildren(
    ...rows.map((cells) => {
      const row = document.createElement('tr');
      row.append(...cells);
      return row;
    }),
  );
}

function tons(nanotons) {
  const digits = nanotons.padStart(10, '0');
  const rest = digits.slice(-9).replace(/0+$/, '');
  return digits.slice(0, -9) + (rest === '' ? '' : '.' + rest) + ' TON';
}

function pairs(table, values) {
  fill(table, Object.entries(values).map(([name, value]) => [cell(name), cell(value, 'code')]));
}

function stateText(facts) {
  const parts = [
    facts.isReady ? 'ready' : 'not ready',
    facts.headSeqno === undefined ? 'no block yet' : 'block ' + facts.headSeqno,
    'global id ' + facts.globalId,
    'lite server ' + facts.liteServer.host + ':' + facts.liteServer.port + ', key ' + facts.liteServer.publicKey,
  ];
  if (facts.index !== undefined) parts.push(facts.index);
  if (facts.aheadSeconds > 0) parts.push('clock ' + facts.aheadSeconds + ' s ahead of this machine');
  return parts.join(' | ');
}

async function json(path, headers) {
  const answer = await fetch(path, { headers });
  if (!answer.ok) throw new Error('status ' + answer.status);
  return answer.json();
}

async function showTransactions(headers) {
  const path = '/api/v3/transactions?sort=desc&limit=' + transactionsMax;
  const { transactions } = await json(path, headers);
  fill(
    byId('transactions'),
    transactions.map(({ now, account, in_msg: message, hash }) => [
      cell(new Date(now * 1000).toLocaleTimeString()),
      linked(account, 'account'),
      cell(message?.value == null ? '' : tons(message.value), 'number'),
      linked(hash, 'tx'),
    ]),
  );
}

let headers = {};

async function refresh() {
  try {
    const facts = await json('/start/facts.json', {});
    headers = facts.key === undefined ? {} : { 'x-api-key': facts.key };
    byId('title').textContent = facts.title;
    byId('state').textContent = stateText(facts);
    byId('internal').href = facts.internalUrl + '/';
    byId('faucet').hidden = !facts.faucet;
    for (const id of ['v3', 'streaming', 'explorer']) byId(id).hidden = facts.v3 === undefined;
    pairs(byId('connect'), { v2: facts.v2, 'global config': facts.globalConfig, ...facts.connect });
    fill(
      byId('demo'),
      Object.entries(facts.demo).map(([name, address]) => [
        cell(name),
        facts.explorer === undefined ? cell(address, 'code') : linked(address, 'account'),
      ]),
    );
    fill(
      byId('accounts'),
      facts.accounts.map(({ name, version, address, nanotons, mnemonic }) => [
        cell(name),
        cell(version),
        facts.explorer === undefined ? cell(address, 'code') : linked(address, 'account'),
        cell(tons(nanotons), 'number'),
        cell(version === 'v5r1' ? (mnemonic ?? '') : ''),
      ]),
    );
    if (facts.v3 !== undefined) await showTransactions(headers);
  } catch (error) {
    byId('state').textContent = 'the network does not answer: ' + error.message;
  }
  setTimeout(refresh, everyMs);
}

byId('faucet').addEventListener('submit', async (event) => {
  event.preventDefault();
  const form = new FormData(event.target);
  const sent = byId('sent');
  sent.textContent = 'sending';
  try {
    const answer = await fetch('/faucet', {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ address: form.get('address'), amount: form.get('amount') }),
    });
    const { result, error } = await answer.json();
    sent.textContent = result === undefined ? error : 'sent in block ' + result.seqno;
  } catch (error) {
    sent.textContent = error.message;
  }
});

void refresh();
`;
