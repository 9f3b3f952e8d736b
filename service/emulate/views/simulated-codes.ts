import { parseAddress } from '#service/decode/address.ts';
import { readChangedAccount } from '#service/interfaces/account-code.ts';
import type { SimulatedSnapshot } from '#service/live/contracts/chain-snapshot.ts';
import type { TimeSlice } from '#service/runtime/time-slice.ts';
import { viewBytesOrNull } from '#service/v3/request/scalars.ts';
import type { AccountCode } from '#service/v3/views/account-interfaces.ts';

/** Codes of accounts as a simulation leaves them, by raw address. Rejects as `SimulatedSnapshot.readAccount` does, and when the time slice ends. */
export async function readCodes(
  snapshot: Pick<SimulatedSnapshot, 'readAccount'>,
  accounts: readonly string[],
  timeSlice: TimeSlice,
): Promise<ReadonlyMap<string, AccountCode>> {
  const codes = new Map<string, AccountCode>();
  for (const raw of accounts) {
    const address = parseAddress(raw);
    if (address === undefined) continue;
    await timeSlice.pause();
    const { workchain, id } = address;
    const { codeHash, methods } = await readChangedAccount(snapshot, { workchain, id });
    codes.set(raw, { codeHash: viewBytesOrNull(codeHash), methods });
  }
  return codes;
}
