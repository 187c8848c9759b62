import { definePack, definePolicy, type Pack } from '@holdfast/core';
import { decide, denyWithoutFacts, judgeUnclear, usualSources } from '@holdfast/facts/rules';
import manifest from '../package.json' with { type: 'json' };
import { configSchema, type NetworkEgressOptions } from './options.ts';
import { createUrlRules } from './url-rules.ts';

/**
 * Restricts the hosts that calls may reach and send to. The policy `requests` judges the hosts in the facts (`call.facts`), compared as the
 * WHATWG URL standard reads them, so that no spelling of a host or address leads elsewhere. Without facts, calls of tools with external
 * effects are denied.
 *
 * Names are not resolved: for that, and to check every redirect, tools fetch with `guardedFetch`.
 */
export const networkEgress: Pack<NetworkEgressOptions> = definePack<NetworkEgressOptions, NetworkEgressOptions>({
  name: 'network-egress',
  version: manifest.version,
  description: 'Restricts the hosts that calls may reach and send to, and blocks private addresses.',
  configSchema,
  presets: {
    recommended: {
      description: 'Asks before data is sent, and about hosts other than the usual sources of code and packages.',
      config: { hosts: usualSources, unlisted: 'ask', local: 'ask', unclear: 'ask', schemes: ['https', 'http'] },
    },
    strict: {
      description: 'Allows only GET and HEAD over https to listed hosts; denies unclear calls and workspace code.',
      config: { unlisted: 'deny', local: 'deny', unclear: 'deny', project: 'deny', schemes: ['https'], ports: [443] },
    },
  },
  policies(config) {
    const { unclear = 'deny', project = 'allow' } = config;
    const rules = createUrlRules(config);
    return [
      definePolicy({
        name: 'requests',
        check({ facts, tool }) {
          // A tool that is not external declares that it reaches nothing.
          if (facts === undefined) return tool.effects === 'external' ? denyWithoutFacts('requests') : decide([]);
          return decide([
            ...facts.hosts.flatMap(rules.inspectHost),
            ...judgeUnclear(facts, tool, { about: 'hosts', unclear, project }),
          ]);
        },
      }),
    ];
  },
});
