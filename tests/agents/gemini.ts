import { mcpServer, type TestedAgent } from './rig.ts';

export const gemini: TestedAgent = {
  name: 'gemini',
  package: '@google/gemini-cli',
  version: '0.61.0',
  hooks: '.gemini/settings.json',
  settings: () => ({ '.gemini/settings.json': JSON.stringify(settings) }),
  words: ({ prompt, resumed }) => {
    const flags = ['-m', 'gemini-2.5-flash', '--output-format', 'stream-json', '--yolo'];
    return ['.bin/gemini', ...flags, ...(resumed ? ['--resume', 'latest'] : []), '-p', prompt];
  },
  environment: ({ url }) => ({
    GEMINI_API_KEY: 'none',
    GOOGLE_GEMINI_BASE_URL: url,
    GEMINI_CLI_TRUST_WORKSPACE: 'true',
  }),
  addPlugin: (folder) => ({
    commands: [
      ['.bin/gemini', 'extensions', 'install', `${folder}/gemini`, '--consent'],
      // By itself it holds in folders below the home alone, where this workspace is not.
      ['.bin/gemini', 'extensions', 'enable', 'holdfast', '--scope', 'workspace'],
    ],
  }),
};

const settings = {
  security: { auth: { selectedType: 'gemini-api-key' } },
  privacy: { usageStatisticsEnabled: false },
  general: { disableAutoUpdate: true, enableAutoUpdate: false },
  mcpServers: { files: { command: process.execPath, args: [mcpServer] } },
};
