import type { Metadata, TokenInfo } from './objects.ts';

/** A jetton's facts from metadata. `decimals` is undefined when nothing says them: show smallest units then. */
export type JettonLabel = {
  readonly name: string | undefined;
  readonly symbol: string | undefined;
  readonly decimals: number | undefined;
};

/** Decimals of a jetton whose metadata does not say them, by its standard. */
const DECIMALS_DEFAULT = 9;
const DECIMALS_MAX = 255;

/** @param master raw address */
export function jettonLabel(metadata: Metadata, master: string): JettonLabel {
  const entry = metadata[master];
  const info = entry?.token_info?.find(({ type }) => type === 'jetton_masters');
  return {
    name: textOf(info?.name),
    symbol: textOf(info?.symbol),
    decimals: info === undefined || entry?.is_indexed === false ? undefined : decimalsOf(info),
  };
}

/** Name of an NFT item, a collection or a jetton; undefined without a name. @param address raw */
export function itemName(metadata: Metadata, address: string): string | undefined {
  const infos = metadata[address]?.token_info ?? [];
  const info = infos.find(({ type }) => type !== 'jetton_wallets');
  const domain = info?.extra?.['domain'];
  return textOf(info?.name) ?? textOf(domain) ?? textOf(info?.symbol);
}

function decimalsOf({ extra }: TokenInfo): number | undefined {
  const said = extra?.['decimals'];
  if (said === undefined || said === null || said === '') return DECIMALS_DEFAULT;
  const text = typeof said === 'number' || typeof said === 'string' ? String(said) : '';
  return /^\d{1,3}$/.test(text) && Number(text) <= DECIMALS_MAX ? Number(text) : undefined;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}
