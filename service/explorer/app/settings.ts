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
};

export async function loadSettings(): Promise<Settings> {
  const response = await fetch('/explorer/settings.json');
  if (!response.ok) throw new Error(`settings: HTTP ${response.status}`);
  return (await response.json()) as Settings;
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
