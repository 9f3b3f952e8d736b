import type { detailShapes, ScalarKind } from './detail-shapes.ts';

/** Versions of clients' knowledge of types. Each version knows the types of the versions before it. */
export type ClientVersion = 'v1' | 'v2' | 'v3' | 'v4';

/** Names by which a client asks for several types. */
export type ActionGroup =
  | 'staking'
  | 'jettons'
  | 'nft'
  | 'nft.v3'
  | 'dns'
  | 'dns.v2'
  | 'multisig'
  | 'vesting'
  | 'evaa'
  | 'jvault'
  | 'coffee'
  | 'tgbtc'
  | 'layerzero'
  | 'cocoon';

type Kind = ScalarKind | keyof typeof detailShapes;

/**
 * Fields of `details`, in order, each as `<kind> <source>`.
 *
 * - kind: a scalar or a shape of detail-shapes.ts. `[]` makes a list of such objects, `?` omits the field without a value, `!` marks it as never null.
 * - source: a column of `columnsJson`, a path through its groups, or `@` and a name of action-derived.ts. `-` is a value that is always unknown.
 *   `<source> if <path>=<value>|<value>` applies to such actions only. Several sources have commas between; the first that applies is used.
 */
export type DetailFields = Readonly<Record<string, `${Kind}${'' | '[]' | '?' | '!'} ${string}`>>;

/**
 * Title and sentence for people. Marks in a sentence name values of the details.
 *
 * - `{@name}`: an account.
 * - `{$name}`: nanotons.
 * - `{#name/asset}`: units of the token at `asset`; of TON when `asset` is null.
 * - `{!name}`: a token or an item, by its own name.
 * - `{"name}`: a text of a contract's author.
 * - `{%name}`: extra currencies.
 * - `{name}`: a word or a number.
 * - `[…]`: left out when one of its values is absent.
 */
export type TypeWords = readonly [title: string, sentence: string];

/** A type of actions. A fact that is missing is a type error. */
export type ActionType = {
  readonly words: TypeWords;
  /** First version of clients that knows the type; `unversioned`: a client must name the type or its group. */
  readonly since: ClientVersion | 'unversioned';
  readonly groups: readonly ActionGroup[];
  /** True when parts of such an action are no actions of their own. Clients of the first version expect them whole. */
  readonly isIndivisible: boolean;
  /** Null for a type without a form of its own. */
  readonly details: DetailFields | null;
  /** Additional fields of the actions for which the condition `<path>=<value>` holds. */
  readonly variant?: { readonly condition: string; readonly fields: DetailFields };
};

/** A type of fragments that other patterns look for. Its action has another type. */
export type HelperType = { readonly isHelper: true; readonly isIndivisible: boolean };

/** Types of one family, by name. */
export type FamilyTypes = Readonly<Record<string, ActionType | HelperType>>;
