export type { DecidingOptions, ProvenanceOptions } from './options.ts';
export { provenance } from './provenance.ts';
