/** A value of the configuration. */
export type ConfigValue =
  | { readonly kind: 'number'; readonly text: string }
  /** A number with a fraction. */
  | { readonly kind: 'decimal'; readonly text: string }
  | { readonly kind: 'ton'; readonly units: string }
  | { readonly kind: 'hash'; readonly hex: string }
  | { readonly kind: 'account'; readonly address: string }
  | { readonly kind: 'time'; readonly at: number }
  | { readonly kind: 'seconds'; readonly text: string }
  | { readonly kind: 'flag'; readonly isSet: boolean }
  | { readonly kind: 'group'; readonly rows: readonly Named[] }
  | { readonly kind: 'list'; readonly items: readonly ConfigValue[] };

export type Named = readonly [name: string, value: ConfigValue];

/** A parameter. `value` is undefined for a parameter without a known form: its cell is shown. */
export type ConfigParameter = {
  readonly id: number;
  readonly title: string | undefined;
  readonly value: ConfigValue | undefined;
};
