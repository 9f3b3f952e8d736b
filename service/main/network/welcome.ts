import { parseAddress, formatFriendlyAddress, formatRawAddress } from '#service/decode/address.ts';
import type { StartupAccount } from '#service/devchain/dev/startup-accounts.ts';

type Place = StartupAccount['addresses'][number]['place'];

/** Facts about the running network for a person or a script. */
export type WelcomeFacts = {
  readonly title: string;
  /** URL of the public listener: `http://127.0.0.1:8081`. */
  readonly url: string;
  readonly internalUrl: string;
  readonly hasIndex: boolean;
  readonly key: string;
  /** A caller without the key has a limit. */
  readonly keyRequired: boolean;
  /** Other machines do not reach the public listener. */
  readonly isLoopback: boolean;
  readonly globalId: number;
  readonly liteServer: { readonly host: string; readonly port: number; readonly publicKey: Buffer };
  readonly accounts: readonly StartupAccount[];
  /** Nanotons of an account at the head of the network. A chain that goes on has other balances than its start. */
  readonly balanceOf: (place: Place) => bigint;
  /** Raw addresses by name. */
  readonly demo: Readonly<Record<string, string>>;
  /** Lines about what only this network has. */
  readonly notes: readonly string[];
  /** Address of an account with code, data and a moving balance. */
  readonly sampleAddress: string;
};

const NANOTONS_PER_TON = 1_000_000_000n;

/** The same facts for scripts: plain values, friendly addresses. */
export function welcomeJson(facts: WelcomeFacts) {
  const { title, url, internalUrl, hasIndex, key, keyRequired, globalId, liteServer, accounts, demo } = facts;
  const { balanceOf } = facts;
  return {
    title,
    url,
    v2: `${url}/api/v2`,
    ...(hasIndex && { v3: `${url}/api/v3`, explorer: `${url}/explorer` }),
    internalUrl,
    globalConfig: `${internalUrl}/global.config.json`,
    key,
    keyRequired,
    globalId,
    liteServer: { ...liteServer, publicKey: liteServer.publicKey.toString('base64') },
    accounts: accounts.map(({ name, mnemonic, balance, addresses }) => ({
      name,
      ...(mnemonic !== undefined && { mnemonic }),
      balance: balance.toString(),
      addresses: addresses.map(({ version, place }) => ({
        ...(version !== undefined && { version }),
        address: formatFriendlyAddress(place, { bounceable: false }),
        raw: formatRawAddress(place),
        balance: balanceOf(place).toString(),
      })),
    })),
    demo: Object.fromEntries(Object.entries(demo).map(([name, raw]) => [name, friendly(name, raw)])),
    connect: connectLines(facts),
  };
}

/** Wallets accept money before their code is deployed. Their addresses say so. */
function friendly(name: string, raw: string): string {
  const address = parseAddress(raw);
  return address === undefined ? raw : formatFriendlyAddress(address, { bounceable: !name.startsWith('wallet ') });
}

/** Renders a line for each developer client: how it reaches the network. */
function connectLines({
  url,
  internalUrl,
  key,
  keyRequired,
  accounts,
}: WelcomeFacts): Readonly<Record<string, string>> {
  const endpoint = `${url}/api/v2/jsonRPC`;
  const blueprintKey = keyRequired ? ` --custom-key ${key}` : '';
  const apiKey = keyRequired ? `, apiKey: '${key}'` : '';
  const mnemonic = accounts.find((account) => account.mnemonic !== undefined)?.mnemonic;
  return {
    Blueprint: `${mnemonic === undefined ? '' : `WALLET_VERSION=v4r2 WALLET_MNEMONIC="${mnemonic}" `}npx blueprint run --custom ${endpoint} --custom-version v2 --custom-type custom${blueprintKey} --mnemonic`,
    '@ton/ton': `new TonClient({ endpoint: '${endpoint}'${apiKey} })`,
    'tonutils-go': `liteclient.NewConnectionPool().AddConnectionsFromConfigUrl(ctx, "${internalUrl}/global.config.json")`,
  };
}

/** The text for a terminal. */
export function welcomeText(facts: WelcomeFacts): string {
  const { title, url, internalUrl, hasIndex, key, keyRequired, liteServer, globalId, notes } = facts;
  const { demo, connect } = welcomeJson(facts);
  const keyNote = keyRequired
    ? 'without a limit; without a key: 1 request a second'
    : 'not needed: no caller has a limit';
  return `
${title}

  API        ${url}/api/v2
${hasIndex ? `             ${url}/api/v3\n             ${url}/api/streaming/v2\n` : ''}             ${url}/api/emulate/v1
${hasIndex ? `  explorer   ${url}/\n` : ''}  connect    ${url}/start
  internal   ${internalUrl}/status  /metrics  /readyz  /livez  /global.config.json
  key        ${key}
             ${keyNote}
  global id  ${globalId}
  lite       ${liteServer.host}:${liteServer.port}, key ${liteServer.publicKey.toString('base64')}
${notes.map((note) => `  ${note}\n`).join('')}${accountRows(facts)}${section('Demo:', demo)}${section('Connect:', connect)}
Try:

${tryLine(facts)}

Ctrl-C stops it.

`;
}

function section(title: string, lines: Readonly<Record<string, string>>): string {
  const width = Math.max(...Object.keys(lines).map((name) => name.length));
  const list = Object.entries(lines).map(([name, value]) => `  ${name.padEnd(width)}  ${value}\n`);
  return list.length === 0 ? '' : `\n${title}\n${list.join('')}`;
}

function accountRows({ accounts, balanceOf }: WelcomeFacts): string {
  if (accounts.length === 0) return '';
  const lines = accounts.map(({ name, mnemonic, addresses }) => {
    const shown = addresses.filter(({ version }) => version !== 'v5r1 of mainnet');
    const amounts = shown.map(({ place }) => `${tonText(balanceOf(place))} TON`);
    const isSame = new Set(amounts).size === 1;
    const list = shown.map(({ version, place }, index) => {
      const address = `${version ?? ''} ${formatFriendlyAddress(place, { bounceable: false })}`.trim();
      return isSame ? address : `${address} (${amounts[index]})`;
    });
    const words = mnemonic === undefined ? '' : `    ${mnemonic}\n`;
    return `  ${name}${isSame ? `, ${amounts[0]} each` : ''}: ${list.join('  ')}\n${words}`;
  });
  return `\nAccounts (their keys are public: never use them elsewhere):\n${lines.join('')}`;
}

/** TON with all their digits, without zeros at the end. */
function tonText(nanotons: bigint): string {
  const rest = (nanotons % NANOTONS_PER_TON).toString().padStart(9, '0').replace(/0+$/, '');
  return `${nanotons / NANOTONS_PER_TON}${rest === '' ? '' : `.${rest}`}`;
}

function tryLine({ url, key, keyRequired, sampleAddress }: WelcomeFacts): string {
  const header = keyRequired ? `-H 'X-API-Key: ${key}' ` : '';
  return `curl ${header}'${url}/api/v2/getAddressInformation?address=${sampleAddress}'`;
}
