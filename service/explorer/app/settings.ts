/** Facts of this installation, from `/explorer/settings.json`. */
export type Settings = {
  /** `mainnet`, `testnet` or the name of a private network. */
  readonly network: string;
  readonly version: string;
  /** APIs that the same listener serves. */
  readonly surfaces: readonly string[];
  /** Present on the internal listener of a private network: the origin that serves the APIs. */
  readonly dev?: { readonly apiUrl: string };
  /** Link to the page of the private network; absent for other networks. */
  readonly networkPage?: string;
  /** Link to the page that says how to connect; absent in a cluster. */
  readonly startPage?: string;
  /** Link to the documents of all APIs; absent: `/`. */
  readonly documents?: string;
  /** Path of the key of a network on a laptop; absent where no key is needed. */
  readonly keyFacts?: string;
};

export async function loadSettings(): Promise<Settings> {
  const response = await fetch('/explorer/settings.json');
  if (!response.ok) throw new Error(`settings: HTTP ${response.status}`);
  return (await response.json()) as Settings;
}

/** Takes the key of a network on a laptop, so that its owner need not type the key. Without an answer the pages ask for it. */
export async function takeKey({ keyFacts }: Settings): Promise<void> {
  if (keyFacts === undefined || apiKey.read() !== '') return;
  const response = await fetch(keyFacts);
  if (!response.ok) return;
  const { key } = (await response.json()) as { readonly key?: unknown };
  if (typeof key === 'string') apiKey.write(key);
}

const keyName = 'tonplane.api-key';

/** The API key of this tab. Session storage forgets the key when the tab is closed. */
export const apiKey = {
  read: (): string => sessionStorage.getItem(keyName) ?? '',
  write(key: string): void {
    if (key === '') sessionStorage.removeItem(keyName);
    else sessionStorage.setItem(keyName, key);
  },
};
