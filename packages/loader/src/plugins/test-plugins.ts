import {
  definePack,
  definePlugin,
  definePolicy,
  defineResource,
  defineSlice,
  defineTool,
  deny,
  type JsonObject,
  type Pack,
  type Plugin,
  type PluginContributions,
  type Section,
  type Tool,
} from '@holdfast/core';
import { jsonSchema } from '@holdfast/schema/json';

/** Values that a test overrides in the plugin and pack below; both define each. */
export interface Said {
  readonly description?: string;
  readonly parameters?: JsonObject;
  readonly returns?: JsonObject;
  readonly effects?: 'none' | 'external';
  readonly dangerous?: boolean;
  readonly timeoutMs?: number;
  readonly attempts?: number;
  readonly example?: string;
  readonly policyTools?: readonly string[];
  readonly template?: string;
  readonly title?: string;
  readonly summary?: string;
  readonly defaults?: JsonObject;
  readonly lifetime?: 'session' | 'call';
  readonly retention?: 'state' | 'log';
  readonly modelDescription?: string;
  readonly commandDescription?: string;
  readonly packVersion?: string;
  readonly strict?: JsonObject;
  readonly packOptions?: JsonObject;
  readonly holdfast?: string;
  readonly pluginDescription?: string;
  readonly options?: JsonObject;
  readonly version?: string;
}

const path = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] };

export function makeTool(name: string, said: Said = {}): Tool {
  const { description = 'Pushes a branch.', parameters = path, returns = { type: 'string' } } = said;
  return defineTool<{ path: string }, string>({
    name,
    description,
    inputSchema: jsonSchema(parameters),
    outputSchema: jsonSchema(returns),
    effects: said.effects ?? 'none',
    repeat: 'safe',
    dangerous: said.dangerous ?? false,
    timeoutMs: said.timeoutMs ?? 500,
    retry: { attempts: said.attempts ?? 2 },
    examples: [{ description: said.example ?? 'One.', input: { path: 'a' }, output: 'b' }],
    execute: () => 'pushed',
  });
}

export function makeSection(title: string, said: Partial<Section> = {}): Section {
  return {
    title,
    key: title.toLowerCase(),
    template: 'Push with care.',
    params: undefined,
    defaults: {},
    summary: undefined,
    visibility: 'full',
    children: [],
    tools: [],
    policies: [],
    taskExamples: [],
    slices: [],
    acceptsOverrides: true,
    ...said,
  };
}

export function makePack(said: Said = {}): Pack {
  const { packVersion = '1.0.0', packOptions = { type: 'object', properties: { most: { type: 'integer' } } } } = said;
  return definePack({
    name: 'git-safety',
    version: packVersion,
    description: 'Keeps history as it is.',
    configSchema: jsonSchema<{ readonly most?: number }>(packOptions),
    presets: {
      recommended: { description: 'Ten pushes.', config: { most: 10 } },
      strict: { description: 'One push.', config: said.strict ?? { most: 1 } },
    },
    policies: () => [],
  });
}

/** A plugin with contributions of every kind. */
export function makePlugin(said: Said = {}): Plugin {
  const guard = definePolicy({ name: 'guard', mentions: said.policyTools ?? ['push'], check: () => deny('No.') });
  const contributions: PluginContributions = {
    tools: [makeTool('push', said)],
    policies: [guard],
    packs: [makePack(said)],
    sections: [
      makeSection(said.title ?? 'Guide', {
        key: 'guide',
        template: said.template ?? 'Push with care.',
        summary: said.summary,
        defaults: said.defaults ?? {},
        children: [makeSection('Inner', { tools: [makeTool('pull')], policies: [guard] })],
      }),
    ],
    slices: [defineSlice({ id: 'git/pushed', kind: 'list', retention: said.retention ?? 'state', reducers: {} })],
    models: [
      {
        name: 'small',
        description: said.modelDescription ?? 'A model.',
        create: () => {
          throw new Error('nobody asks');
        },
      },
    ],
    resources: [defineResource({ name: 'repository', lifetime: said.lifetime ?? 'session', create: () => ({}) })],
    commands: [{ name: 'git-log', description: said.commandDescription ?? 'Shows the log.', run: () => 0 }],
  };
  return definePlugin({
    name: 'git',
    version: said.version ?? '2.0.0',
    description: said.pluginDescription ?? 'Works with Git.',
    holdfast: said.holdfast ?? '*',
    configSchema: jsonSchema<object>(said.options ?? { type: 'object', properties: {} }),
    ...contributions,
  });
}
