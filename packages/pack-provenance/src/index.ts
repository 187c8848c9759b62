export type { DecidingOptions, ProvenanceOptions } from './options.ts';
export { toPlanned } from './planned.ts';
export { provenance } from './provenance.ts';
