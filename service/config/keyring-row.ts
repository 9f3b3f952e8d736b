/**
 * Row of a keyring file `{"keys": [row, …]}`. A keyring is one such file or a folder of them, each plain or gzip. The operator writes Secrets sharded
 * by the start of the hash; the command line writes one file.
 */
export type KeyringRow = {
  /** Public half of the key, 12 base-62 digits. */
  readonly id: string;
  /** SHA-256 of the whole key text, 64 hex digits. */
  readonly sha256: string;
  readonly plan: string;
  /** Keys of one owner share one budget; a key without owner has its own. */
  readonly owner?: string | undefined;
  /** Networks on which the key is valid; every network when absent. */
  readonly networks?: readonly string[] | undefined;
  /** Time (RFC 3339) from which the key is unknown. */
  readonly notAfter?: string | undefined;
  /** Operations the key may call, at most 128; all when absent. */
  readonly allowedMethods?: readonly string[] | undefined;
  /** CIDR ranges the key may be used from, at most 32; all when absent. */
  readonly allowedSources?: readonly string[] | undefined;
  /** Values that replace the plan's; whole numbers from 1 to 1,000,000. */
  readonly overrides?: { readonly requestsPerSecond?: number; readonly burst?: number } | undefined;
};

/** Every field of a row; a further field makes the file invalid. */
export const keyringRowFields = [
  'id',
  'sha256',
  'plan',
  'owner',
  'networks',
  'notAfter',
  'allowedMethods',
  'allowedSources',
  'overrides',
] as const satisfies readonly (keyof KeyringRow)[];
