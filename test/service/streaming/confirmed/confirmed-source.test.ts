import { pino } from 'pino';
import { describe, expect, it } from 'vitest';

import { createConfirmedSource } from '#service/streaming/confirmed/confirmed-source.ts';

const unused = async (): Promise<never> => Promise.reject(new Error('nothing is read'));

describe('the source of signed blocks', () => {
  it('asks no lite server while it is off, and asks at once when it is on again', async () => {
    let [isOn, asked] = [false, 0];
    const source = createConfirmedSource(
      { everyMs: 0, isOn: () => isOn },
      {
        files: { head: () => undefined, masterchainBlock: unused, readFile: unused, readGlobalVersion: unused },
        signed: {
          async list() {
            asked++;
            return [];
          },
          readFile: unused,
        },
        snapshots: { of: unused },
        corrections: unused,
        jettons: { of: unused, corrections: unused },
        findPending: unused,
        hub: { publish: unused, watchesConfirmed: () => true, wantsConfirmed: () => true },
        nowMs: () => 0,
        logger: pino({ level: 'silent' }),
      },
    );
    const look = async (): Promise<readonly unknown[]> => {
      await source.look();
      return [asked, source.isAvailable()];
    };
    expect(await look()).toEqual([0, false]);
    isOn = true;
    expect(await look()).toEqual([1, true]);
    isOn = false;
    expect(await look()).toEqual([1, false]);
    isOn = true;
    expect(await look()).toEqual([2, true]);
    await source.close();
  });
});
