import { openContractCell, walkDictionary } from '../decode/contract-data.ts';
import { DecodeError } from '../decode/errors.ts';
import { readAccount } from '../live/tokens/dns-records.ts';
import type { AccountId } from '../live/accounts/accounts.ts';
import { asBoc } from '../live/tokens/token-contract.ts';
import type { StackCell } from '../tvm/stack.ts';
import { accountKey } from '../store/account-key.ts';
import { isNamed } from './address-entry.ts';
import type { Family } from './family.ts';
import { rawOf } from './raw-address.ts';
import { account, cell, cellOrNull, flag, int, int32, stackShape, uint63 } from './stack-shape.ts';

const multisigData = stackShape({ nextOrderSeqno: int, threshold: int32, signers: cellOrNull, proposers: cellOrNull });

const orderData = stackShape({
  multisig: account,
  seqno: int,
  threshold: int32,
  isSent: flag,
  signers: cell,
  approvalsMask: int,
  approvalsNum: int32,
  expirationDate: uint63,
  order: cell,
});

/** Multisig v2. */
export const multisigs: Family = {
  kind: 'multisig',
  needs: ['get_multisig_data'],
  detect({ key, state, answers }) {
    const data = multisigData(answers('get_multisig_data'));
    const [signers, proposers] = [data && readMembers(data.signers), data && readMembers(data.proposers)];
    if (signers === undefined || proposers === undefined) return 'malformed';
    const { nextOrderSeqno, threshold } = data!;
    const multisig = {
      address: key,
      next_order_seqno: nextOrderSeqno,
      threshold,
      signers: signers.map(accountKey),
      proposers: proposers.map(accountKey),
      ...state,
    };
    return { multisig };
  },
};

/** Order of a multisig v2. Anyone can deploy a contract that claims to be an order, so its multisig has to confirm it. */
export const multisigOrders: Family = {
  kind: 'multisig_order',
  needs: ['get_order_data'],
  async detect({ account: order, key, state, answers }, around) {
    const data = orderData(answers('get_order_data'));
    const signers = data && readMembers(data.signers);
    if (data === undefined || signers === undefined) return 'malformed';
    const isConfirmed = await around.consult({
      by: data.multisig,
      about: String(data.seqno),
      asks: [{ method: 'get_order_address', stack: [{ type: 'int', value: data.seqno }] }],
      read: (said) => isNamed(said('get_order_address'), order),
      weigh: () => 0,
    });
    if (isConfirmed !== true) return 'unconfirmed';
    const orderBoc = asBoc({ type: 'cell', ...data.order });
    if (orderBoc === undefined) return 'malformed';
    const multisigOrder = {
      address: key,
      multisig: accountKey(data.multisig),
      order_seqno: data.seqno,
      threshold: data.threshold,
      sent_for_execution: data.isSent,
      approvals_mask: data.approvalsMask,
      approvals_num: data.approvalsNum,
      expiration_date: data.expirationDate,
      order_boc: orderBoc,
      signers: signers.map(accountKey),
      ...state,
    };
    return { multisigOrder, facts: { multisigOrder: { signers: signers.map(rawOf) } } };
  },
};

const KEY_BITS = 8;

/** Reads `Hashmap 8 MsgAddress`, in the order of its keys; null is an empty dictionary. Undefined when a value is no account. */
function readMembers(root: StackCell | null): AccountId[] | undefined {
  if (root === null) return [];
  const members: (AccountId | undefined)[] = [];
  try {
    walkDictionary(openContractCell(root), KEY_BITS, (_, value) => void members.push(readAccount(value)));
  } catch (error) {
    if (error instanceof DecodeError) return undefined;
    throw error;
  }
  const accounts = members.filter((member) => member !== undefined);
  return accounts.length === members.length ? accounts : undefined;
}
