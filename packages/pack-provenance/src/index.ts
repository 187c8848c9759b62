export type { Decides, DecidingOptions, ProvenanceOptions, TrustedField } from './options.ts';
export { provenance } from './provenance.ts';
