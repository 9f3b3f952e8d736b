import { formatFriendlyAddress } from '#service/decode/address.ts';
import { allDocsHtml, allStart, docsPath, documentList, pagePolicy, type OwnPage } from '#service/http/pages.ts';
import type { Contract } from '#service/http/paths.ts';
import type { DevNetwork } from './dev-network.ts';
import { startPageScript, startPageStyle } from './start-page-assets.ts';
import { welcomeJson, type WelcomeFacts } from './welcome.ts';

/** Content of the start page besides the facts of the welcome, read at each request. */
export type StartPageState = {
  readonly headSeqno: number | undefined;
  readonly isReady: boolean;
  /** Progress of the index; undefined without an index. */
  readonly index: string | undefined;
};

export type StartPageDependencies = {
  readonly facts: () => WelcomeFacts;
  readonly network: Pick<DevNetwork, 'aheadSeconds' | 'balanceOf' | 'posts'>;
  readonly state: () => StartPageState;
};

/** Its own script, its own style, its own listener: nothing inline, nothing from elsewhere. */
const startPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'";

/** Paths of the page with the facts of the network, and of the documents of all APIs. */
export const startPaths = { start: '/start', facts: '/start/facts.json', documents: '/docs' } as const;

function page(contentType: string, body: string, policy = startPolicy): OwnPage {
  return { contentType, body: Buffer.from(body), cacheControl: 'no-store', policy };
}

/** Pages of the public listener of `npm start`, by path. `/` opens the explorer, which needs the index. */
export function startPages(dependencies: StartPageDependencies): ReadonlyMap<string, () => OwnPage> {
  const html = 'text/html; charset=utf-8';
  const script = 'text/javascript; charset=utf-8';
  return new Map<string, () => OwnPage>([
    ['/', () => (dependencies.facts().hasIndex ? { location: '/explorer' } : page(html, startHtml))],
    [startPaths.start, () => page(html, startHtml)],
    ['/start/page.js', () => page(script, startPageScript)],
    ['/start/page.css', () => page('text/css; charset=utf-8', startPageStyle)],
    [startPaths.facts, () => page('application/json', JSON.stringify(shownFacts(dependencies)))],
    [startPaths.documents, () => page(html, allDocsHtml('start.js'), pagePolicy)],
    [`${docsPath}/start.js`, () => page(script, docsScript(contractsOf(dependencies.facts())))],
  ]);
}

/** Contracts that the network serves. */
function contractsOf({ hasIndex }: WelcomeFacts): Contract[] {
  return hasIndex ? ['v2', 'v3', 'emulate', 'streaming'] : ['v2', 'emulate'];
}

/** Mnemonics of accounts that a developer named are private. Mnemonics of startup wallets are public. */
function shownFacts({ facts, network, state }: StartPageDependencies): object {
  const given = facts();
  const { key, accounts: _accounts, ...shown } = welcomeJson(given);
  return {
    ...shown,
    ...state(),
    ...(given.keyRequired && given.isLoopback && { key }),
    faucet: network.posts.has('/faucet'),
    aheadSeconds: network.aheadSeconds(),
    accounts: shownAccounts(given.accounts, network.balanceOf),
  };
}

/** Accounts of the start with their balances; mnemonics are those of public wallets alone. */
export function shownAccounts(accounts: WelcomeFacts['accounts'], balanceOf: DevNetwork['balanceOf']): object[] {
  return accounts.flatMap(({ name, addresses, mnemonic, isPublic }) =>
    addresses.map(({ version, place }) => ({
      name,
      version: version ?? '',
      address: formatFriendlyAddress(place, { bounceable: false }),
      nanotons: balanceOf(place).toString(),
      ...(isPublic === true && { mnemonic }),
    })),
  );
}

/** Addresses that the documents of v2 and v3 show as examples, by name of the parameter. */
export function exampleParameters({ demo, sampleAddress }: Pick<WelcomeFacts, 'demo' | 'sampleAddress'>) {
  const { 'wallet v4r2': wallet = sampleAddress, 'jetton minter': minter, 'NFT collection': collection } = demo;
  const found: Readonly<Record<string, string | undefined>> = {
    address: wallet,
    account: wallet,
    owner_address: wallet,
    wallet_address: demo['multisig'],
    jetton_address: minter,
    jetton_master: minter,
    collection_address: collection,
    item_address: demo['NFT item'],
    domain: demo['domain tonplane.ton'] === undefined ? undefined : 'tonplane.ton',
  };
  return Object.fromEntries(Object.entries(found).filter((entry): entry is [string, string] => entry[1] !== undefined));
}

const startHtml = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tonplane: a private TON network</title>
<link rel="stylesheet" href="/start/page.css">
<link rel="icon" type="image/png" href="${docsPath}/favicon-32x32.png">
</head>
<body>
<h1 id="title">A private TON network</h1>
<p id="state" role="status">loading</p>
<p><a id="explorer" href="/explorer">Explorer</a> <a href="/docs">Documents of all APIs</a> <a href="/api/v2">v2</a> <a id="v3" href="/api/v3">v3</a> <a href="/api/emulate">emulation</a> <a id="streaming" href="/api/streaming/">streaming</a> <a id="internal">Internal port</a></p>
<form id="faucet">
<h2>Faucet</h2>
<label>Address <input name="address" required maxlength="67" size="50" autocomplete="off"></label>
<label>TON <input name="amount" required maxlength="20" size="8" value="10"></label>
<button>Send</button> <output id="sent"></output>
</form>
<h2>Connect</h2><table id="connect"></table>
<h2>Newest transactions</h2><table id="transactions"></table>
<h2>Accounts</h2><table id="accounts"></table>
<h2>Demo</h2><table id="demo"></table>
<script src="/start/page.js"></script>
</body>
</html>
`;

/** The reader gets the key of the start page, so that a person can try operations at once. The contracts name the header's scheme in their own ways. */
const docsScript = (
  contracts: readonly Contract[],
): string => `fetch('${startPaths.facts}').then((answer) => answer.json()).then((facts) => {
${allStart(
  documentList(contracts),
  `  onComplete() {
    if (facts.key === undefined) return;
    for (const scheme of ['ApiKeyHeader', 'APIKeyHeader']) ui.preauthorizeApiKey(scheme, facts.key);
  },
`,
)}});
`;
