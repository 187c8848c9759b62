export type { GovernOptions } from './frameworks/run.ts';
export { type HoldfastIntervention, holdfastIntervention } from './frameworks/strands.ts';
