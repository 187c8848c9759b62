import { definePack, type Pack } from '@holdfast/core';
import manifest from '../package.json' with { type: 'json' };
import { configSchema, type ProvenanceOptions } from './options.ts';
import { plan } from './plan.ts';
import { taint } from './taint.ts';
import { values } from './values.ts';

/**
 * Asks about calls that text of outsiders may have steered: a recipient, address or path must come from the user's request, or from fields of
 * results that outsiders cannot write.
 */
export const provenance: Pack<ProvenanceOptions> = definePack<ProvenanceOptions, ProvenanceOptions>({
  name: 'provenance',
  version: manifest.version,
  description: 'Asks about calls whose recipient, address or path came from text that outsiders wrote.',
  configSchema,
  presets: {
    recommended: { description: 'As `values`.', config: { level: 'values' } },
    strict: {
      description: 'As `plan`, and denies instead of asking.',
      config: { level: 'plan', otherwise: 'deny' },
    },
    taint: {
      description: 'Asks about what sends, once untrusted text and a secret were read.',
      config: { level: 'taint' },
    },
    values: {
      description: 'Asks about recipients, addresses and paths from untrusted text.',
      config: { level: 'values' },
    },
    plan: {
      description: 'As `values`, and asks about changes that the request does not call for.',
      config: { level: 'plan' },
    },
  },
  policies(options) {
    const { level = 'values' } = options;
    if (level === 'taint') return [taint(options)];
    return level === 'plan' ? [values(options), plan(options)] : [values(options)];
  },
});
