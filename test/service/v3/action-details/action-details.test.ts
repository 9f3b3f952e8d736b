import { beginCell, convertToMerkleProof, type Cell } from '@ton/core';
import { describe, expect, it } from 'vitest';

import { viewDetails } from '#service/v3/action-details/action-details.ts';

const body = (opcode: number) => beginCell().storeUint(opcode, 32);
const text = (cell: Cell): string => cell.toBoc().toString('base64');

describe('what comes with an item', () => {
  it.each<[string, string | undefined, string | null, boolean | null]>([
    ['a text', text(body(0).storeStringTail('for you').endCell()), 'for you', false],
    ['an encrypted text', text(body(0x2167da4b).storeUint(0x010203, 24).endCell()), 'AQID', true],
    ['something else', text(body(7).storeStringTail('for you').endCell()), null, false],
    ['too little to be anything', text(beginCell().storeUint(0, 8).endCell()), null, false],
    ['a cell that no slice opens', text(convertToMerkleProof(body(0).endCell())), null, false],
    ['what is no bag of cells', 'AAAA', null, null],
    ['nothing', undefined, null, null],
  ])('is told of %s', (_what, payload, comment, isEncrypted) => {
    const columns = { data: { nft_transfer_data: { forward_payload: payload } } };
    expect(viewDetails('nft_transfer', columns, { testOnly: false })).toMatchObject({
      comment,
      is_encrypted_comment: isEncrypted,
      forward_payload: payload ?? null,
    });
  });
});
