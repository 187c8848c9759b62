export type { Decides, DecidingOptions, ProvenanceOptions, TrustedField } from './options.ts';
export type { PlannedCalls, PlannedInputs, PlannedReference } from './planned.ts';
export { toPlanned } from './planned.ts';
export { provenance } from './provenance.ts';
