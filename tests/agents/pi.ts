import { mcpServer, type TestedAgent } from './rig.ts';

export const pi: TestedAgent = {
  name: 'pi',
  package: '@earendil-works/pi-coding-agent',
  version: '1.6.0',
  hooks: '.pi/agent/extensions/holdfast.js',
  settings: (url) => ({
    '.pi/agent/models.json': JSON.stringify({ providers: { scripted: { ...provider, baseUrl: `${url}/v1` } } }),
    '.pi/agent/mcp.json': JSON.stringify({ mcpServers: { files } }),
  }),
  words: ({ prompt, resumed }) => {
    const flags = ['--provider', 'scripted', '--model', 'm', '--mode', 'json', '--tools', tools];
    return ['.bin/pi', ...flags, ...(resumed ? ['--continue'] : []), '-p', prompt];
  },
  environment: () => ({ PI_OFFLINE: '1' }),
  addPlugin: (folder) => ({ commands: [['.bin/pi', 'install', `${folder}/holdfast-pi`]] }),
};

const tools = 'read,bash,edit,write,codemode,mcp__files__read_file';
const files = { command: process.execPath, args: [mcpServer], exposure: 'direct' };
const provider = {
  api: 'openai-responses',
  apiKey: 'none',
  models: [{ id: 'm', name: 'm', reasoning: false, input: ['text'], contextWindow: 100_000, maxTokens: 1000 }],
};
