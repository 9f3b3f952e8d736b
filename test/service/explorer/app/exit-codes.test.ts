import { describe, expect, it } from 'vitest';

import { actionCodeMeaning, exitCodeMeaning, outcomeOfTransaction } from '#service/explorer/app/exit-codes.ts';

const ran = { skipped: false, success: true, exit_code: 0 };

describe('meaning of an exit code', () => {
  it('is that of the machine before any of a contract', () => {
    expect(exitCodeMeaning(9, ['jetton_wallet']).name).toBe('cell underflow');
    expect(exitCodeMeaning(-14).name).toBe('out of gas');
  });

  it('is that of the standard contract that the account is', () => {
    expect(exitCodeMeaning(133, ['wallet_v5r1']).name).toBe('wrong seqno');
    expect(exitCodeMeaning(33, ['wallet_v4r2']).name).toBe('wrong seqno');
    expect(exitCodeMeaning(706, ['jetton_wallet']).name).toBe('too few jettons');
  });

  it('is said to be a convention where only a convention has it', () => {
    expect(exitCodeMeaning(0xffff).meaning).toContain('convention');
    expect(exitCodeMeaning(133).meaning).toContain('convention');
  });

  it('is unknown for a code of a contract that no table has', () => {
    expect(exitCodeMeaning(706).name).toBe('error of the contract');
  });

  it('differs from the meaning of the same result code of actions', () => {
    expect(actionCodeMeaning(37).name).toBe('too little TON');
    expect(exitCodeMeaning(37).name).toBe('error of the contract');
    expect(actionCodeMeaning(1000).name).toBe('unknown');
  });
});

describe('outcome of a transaction', () => {
  it('is the first phase that failed', () => {
    const compute_ph = { skipped: false, success: false, exit_code: 9 };
    expect(outcomeOfTransaction({ type: 'ord', aborted: true, compute_ph })).toMatchObject({
      text: 'exit 9: cell underflow',
      isFailed: true,
    });
    const action = { success: false, result_code: 37 };
    expect(outcomeOfTransaction({ type: 'ord', aborted: true, compute_ph: ran, action })).toMatchObject({
      text: 'action 37: too little TON',
      isFailed: true,
    });
  });

  it('is no failure when a message only brought its value', () => {
    const compute_ph = { skipped: true, reason: 'no_state' };
    expect(outcomeOfTransaction({ type: 'ord', aborted: true, compute_ph }).isFailed).toBe(false);
    expect(outcomeOfTransaction({ type: 'ord', aborted: true, compute_ph, bounce: { type: 'ok' } }).isFailed).toBe(
      true,
    );
  });

  it('is success when all phases ended well, also without phases', () => {
    expect(outcomeOfTransaction({ type: 'ord', aborted: false, compute_ph: ran }).text).toBe('done');
    expect(outcomeOfTransaction({ type: 'storage' }).isFailed).toBe(false);
  });
});
