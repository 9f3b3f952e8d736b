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
      help: 'Accounts looked at, by result: impossible (by their code, which cost nothing), nothing, something, failed.',
      labelNames: ['result'],
      registers,
    }),
    detections: new Counter({
      name: 'ton_interfaces_detections_total',
      help: 'Kinds of contracts that accounts may have been, by outcome: found, malformed (its methods say something else), unconfirmed.',
      labelNames: ['kind', 'outcome'],
      registers,
    }),
    visits: new Counter({
      name: 'ton_interfaces_visits_total',
      help: 'Visits of the emulator, by purpose: account (its own methods), consultation (of a master, collection, multisig or factory).',
      labelNames: ['purpose'],
      registers,
    }),
    consultations: new Counter({
      name: 'ton_interfaces_consultations_total',
      help: 'What other contracts were asked about accounts, by source: memory, emulator.',
      labelNames: ['source'],
      registers,
    }),
  };
}
