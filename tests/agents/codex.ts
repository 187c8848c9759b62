import type { Script } from './model-server.ts';
import { type AgentRun, mcpServer, type RunOptions, runAgent, type TestedAgent } from './rig.ts';

export interface CodexOptions extends RunOptions {
  /** Leaves the hooks untrusted. */
  readonly untrusted?: boolean;
}

export const codex: TestedAgent = createCodex(['--dangerously-bypass-hook-trust']);

export function runCodex(script: Script, { untrusted = false, ...options }: CodexOptions = {}): Promise<AgentRun> {
  return runAgent(untrusted ? createCodex([]) : codex, script, options);
}

function createCodex(flags: readonly string[]): TestedAgent {
  return {
    name: 'codex',
    package: '@openai/codex',
    version: '0.169.0',
    hooks: '.codex/hooks.json',
    settings: (url) => ({ '.codex/config.toml': toConfig(url) }),
    words: ({ prompt, resumed }) =>
      resumed
        ? [
            '.bin/codex',
            'exec',
            'resume',
            '--last',
            '--json',
            '-c',
            'sandbox_mode="danger-full-access"',
            ...flags,
            prompt,
          ]
        : ['.bin/codex', 'exec', '--json', '--sandbox', 'danger-full-access', ...flags, prompt],
    environment: () => ({ MOCK_KEY: 'none' }),
    addPlugin: (folder) => ({
      commands: [
        ['.bin/codex', 'plugin', 'marketplace', 'add', folder],
        ['.bin/codex', 'plugin', 'add', 'holdfast@holdfast'],
      ],
    }),
  };
}

function toConfig(url: string): string {
  return `model = "gpt-5"
model_provider = "scripted"
[model_providers.scripted]
name = "scripted"
base_url = "${url}/v1"
wire_api = "responses"
env_key = "MOCK_KEY"
request_max_retries = 0
stream_max_retries = 0
[mcp_servers.files]
command = "${process.execPath}"
args = ["${mcpServer}"]
`;
}
