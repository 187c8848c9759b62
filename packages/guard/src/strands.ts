export type { OwnToolOptions, OwnTools } from './frameworks/own-tools.ts';
export type { GovernOptions } from './frameworks/run.ts';
export { type HoldfastIntervention, holdfastIntervention } from './frameworks/strands.ts';
export { toStrandsTools } from './frameworks/strands-tools.ts';
