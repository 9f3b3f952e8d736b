import type { SimulationBounds } from '../simulation/simulate-message.ts';

/** Transactions and depth of a trace that is simulated ahead of the chain: ten times a usual exchange of tokens. */
export const BOUNDS: SimulationBounds = { transactionsMax: 128, depthMax: 32 };

/** Time of a simulation; a trace that takes longer is not shown until the next block. */
export const RUN_MS = 5_000;
