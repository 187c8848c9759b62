import { mcpServer, type TestedAgent } from './rig.ts';

export const opencode: TestedAgent = {
  name: 'opencode',
  package: 'opencode-ai',
  version: '1.18.33',
  hooks: '.config/opencode/plugin/holdfast.js',
  settings: (url) => ({ '.config/opencode/opencode.json': JSON.stringify(toSettings(url)) }),
  words: ({ prompt, resumed }) => [
    '.bin/opencode',
    'run',
    '--format',
    'json',
    ...(resumed ? ['--continue'] : []),
    prompt,
  ],
  environment: () => ({ OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1' }),
  addPlugin: (folder) => ({
    settings: {
      '.config/opencode/opencode.json': (text) =>
        JSON.stringify({ ...(JSON.parse(text) as object), plugin: [`file://${folder}/holdfast-opencode`] }),
    },
  }),
};

function toSettings(url: string): object {
  const model = { name: 'm', tool_call: true, limit: { context: 100_000, output: 1000 } };
  const options = { baseURL: `${url}/v1`, apiKey: 'none' };
  return {
    autoupdate: false,
    share: 'disabled',
    model: 'scripted/m',
    small_model: 'scripted/m',
    provider: { scripted: { npm: '@ai-sdk/openai-compatible', name: 'scripted', options, models: { m: model } } },
    mcp: { files: { type: 'local', command: [process.execPath, mcpServer], enabled: true } },
  };
}
