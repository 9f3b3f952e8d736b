import { Counter, type Registry } from 'prom-client';

import type { NotFound } from './family.ts';

export type InterfacesMetrics = {
  /** Counts accounts by result. */
  readonly accounts: Counter<'result'>;
  /** Counts kinds that an account may have been. */
  readonly detections: Counter<'kind' | 'outcome'>;
  /** Counts visits of the emulator. */
  readonly visits: Counter<'purpose'>;
  readonly consultations: Counter<'source'>;
};

export type DetectionOutcome = 'found' | NotFound;

export function createInterfacesMetrics(register: Registry): InterfacesMetrics {
  const registers = [register];
  return {
    accounts: new Counter({
      name: 'ton_interfaces_accounts_total',
      help: 'Examined accounts, by result: impossible (excluded by the code, at no cost), nothing, something, failed',
      labelNames: ['result'],
      registers,
    }),
    detections: new Counter({
      name: 'ton_interfaces_detections_total',
      help: 'Possible kinds of accounts, by outcome: found, malformed (its methods return something else), unconfirmed',
      labelNames: ['kind', 'outcome'],
      registers,
    }),
    visits: new Counter({
      name: 'ton_interfaces_visits_total',
      help: 'Runs of the emulator, by purpose: account (its own methods), consultation (a master, collection, multisig or factory)',
      labelNames: ['purpose'],
      registers,
    }),
    consultations: new Counter({
      name: 'ton_interfaces_consultations_total',
      help: 'Questions to other contracts about accounts, by source: memory, emulator',
      labelNames: ['source'],
      registers,
    }),
  };
}
