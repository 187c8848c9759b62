import { definePack, definePolicy, type Pack } from '@holdfast/core';
import { decide, denyWithoutFacts, judgeUnclear, usualSources } from '@holdfast/facts/rules';
import manifest from '../package.json' with { type: 'json' };
import { configSchema, type NetworkEgressOptions } from './options.ts';
import { createUrlRules } from './url-rules.ts';

/**
 * Which hosts calls may reach and send to, whatever their tool is called: `requests` judges the hosts of the facts (`call.facts`). They are
 * compared as the WHATWG URL standard reads them, so that no spelling of a host or an address leads elsewhere. Without facts no call of a
 * tool that touches the outside is let through.
 *
 * Names are not looked up: for that, and to hold every redirect to the same rules, a tool fetches with `guardedFetch`.
 */
export const networkEgress: Pack<NetworkEgressOptions> = definePack<NetworkEgressOptions, NetworkEgressOptions>({
  name: 'network-egress',
  version: manifest.version,
  description: 'Which hosts calls may reach, what they may send, and no private addresses.',
  configSchema,
  presets: {
    recommended: {
      description:
        'A person is asked before data leaves, and about hosts that are no usual source of code and packages.',
      config: { hosts: usualSources, unlisted: 'ask', local: 'ask', unclear: 'ask', schemes: ['https', 'http'] },
    },
    strict: {
      description:
        'Only listed hosts, read by GET and HEAD over https; nothing that is not clear, and no code of the workspace.',
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
          // By its own word a tool that is not external reaches nothing.
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
