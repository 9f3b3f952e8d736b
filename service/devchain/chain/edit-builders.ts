import { BitWriter } from '#service/decode/bit-writer.ts';
import { CellSlice } from '#service/decode/cell-slice.ts';
import type { CellStore } from '#service/decode/cell-store.ts';
import type { AccountState } from '#service/decode/tlb/account.ts';
import { readAccount, storeAccount } from '#service/decode/tlb/account.ts';
import { NO_CURRENCIES } from '#service/decode/tlb/currency-collection.ts';
import type { AccountEdit } from '../collator/state-edits.ts';
import { CONFIG_ID, storeParams } from '../zerostate/genesis-config.ts';

/** Changed fields of an account; absent fields stay the same. */
export type AccountChange = {
  /** Nanotons. */
  readonly balance?: bigint;
  /** Bags of cells are imported by the caller: cells of the store of states. */
  readonly code?: number;
  readonly data?: number;
};

/** Changes an account by hand, or creates it. */
export function editAccount(
  place: { readonly workchain: number; readonly id: Buffer },
  change: (states: CellStore) => AccountChange,
): AccountEdit {
  return {
    ...place,
    edit(states, cell) {
      const old = cell === undefined ? undefined : readAccount(states, cell);
      const { balance, code, data } = change(states);
      const { storage, lastTransactionLt = 0n } = old ?? {};
      return storeAccount(states, {
        ...place,
        lastTransactionLt,
        lastPaid: storage?.lastPaid ?? 0,
        duePayment: storage?.duePayment,
        balance: { grams: balance ?? old?.balance.grams ?? 0n, extra: (old?.balance ?? NO_CURRENCIES).extra },
        state:
          code === undefined && data === undefined
            ? (old?.state ?? { kind: 'uninit' })
            : active(old?.state, code, data),
      });
    },
  };
}

function active(old: AccountState | undefined, code: number | undefined, data: number | undefined): AccountState {
  const init = old?.kind === 'active' ? old.init : undefined;
  return {
    kind: 'active',
    init: {
      fixedPrefixLength: init?.fixedPrefixLength,
      special: init?.special,
      code: code ?? init?.code,
      data: data ?? init?.data,
      libraries: init?.libraries,
    },
  };
}

/** Changes configuration parameters in the config contract. The next masterchain block is a key block. */
export function editConfig(params: (states: CellStore) => ReadonlyMap<number, number | undefined>): AccountEdit {
  const place = { workchain: -1, id: CONFIG_ID };
  return {
    ...place,
    edit(states, cell) {
      const state = cell === undefined ? undefined : readAccount(states, cell)?.state;
      if (state?.kind !== 'active' || state.init.data === undefined)
        throw new Error('there is no configuration contract');
      const slice = new CellSlice(states, state.init.data);
      const root = storeParams(states, slice.ref(), params(states));
      const data = new BitWriter().ref(root).rest(slice).finish(states);
      return editAccount(place, () => ({ data })).edit(states, cell);
    },
  };
}
