import type { CommandModule } from '../flags/command.ts';

/** An entry in the list of commands. */
export interface CommandEntry {
  readonly name: string;
  /** The arguments shown after the name. */
  readonly term: string;
  readonly description: string;
  /** Loads the command's file, on first use. */
  load(): Promise<CommandModule>;
}

function command(name: string, term: string, description: string, load: CommandEntry['load']): CommandEntry {
  return { name, term, description, load };
}

/** All commands, under the headings of the help. */
export const groups: readonly { readonly heading: string; readonly commands: readonly CommandEntry[] }[] = [
  {
    heading: 'Run:',
    commands: [
      command(
        'run',
        '[options] <request>',
        'give a request to a model that can use your tools and the workspace files',
        () => import('./run/run.ts'),
      ),
      command('resume', '[options] [id]', 'resume a suspended or interrupted run', () => import('./run/resume.ts')),
    ],
  },
  {
    heading: 'Answer:',
    commands: [
      command(
        'pending',
        '[options] [id]',
        'list pending calls, interrupted runs and calls in doubt',
        () => import('./answer/pending.ts'),
      ),
      command('approve', '[options] <id> <call...>', 'approve a pending call', () => import('./answer/approve.ts')),
      command('deny', '[options] <id> <call...>', 'reject a pending call', () => import('./answer/deny.ts')),
      command(
        'resolve',
        '[options] <id> <call>',
        'record whether an interrupted call took effect',
        () => import('./answer/resolve.ts'),
      ),
      command(
        'grants',
        '[options] [id]',
        'list or withdraw the tools granted for a session',
        () => import('./answer/grants.ts'),
      ),
      command(
        'undo',
        '[options] [session] <call>',
        'put back the files that a call of a guarded agent changed',
        () => import('./answer/undo.ts'),
      ),
    ],
  },
  {
    heading: 'Guard:',
    commands: [
      command(
        'guard',
        '',
        'put policies in front of a coding agent: `guard install`, `guard doctor`, `guard status`, `guard uninstall`',
        () => import('./guard/guard.ts'),
      ),
      command(
        'demo',
        '[options]',
        'see a guarded agent at work in a temporary folder, without a key or network',
        () => import('./guard/demo.ts'),
      ),
      command(
        'audit',
        '[options]',
        'see what the guard would have denied and asked in the transcripts of your coding agents',
        () => import('./guard/audit.ts'),
      ),
      command(
        'mcp',
        '',
        'put policies in front of an MCP server: `mcp wrap`, `mcp import`, `mcp restore`, `mcp pin`',
        () => import('./mcp/mcp.ts'),
      ),
      command('serve', '[options]', 'serve your tools to MCP clients: `serve --mcp`', () => import('./mcp/serve.ts')),
    ],
  },
  {
    heading: 'Look:',
    commands: [
      command(
        'studio',
        '[options]',
        'open a page that answers pending calls and shows every call of this machine',
        () => import('./look/studio.ts'),
      ),
      command('show', '[options] [id]', 'print the log of a session', () => import('./look/show.ts')),
      command(
        'why',
        '[options] <call...>',
        'explain why a call was allowed, held for approval or denied, and how it ended',
        () => import('./look/why.ts'),
      ),
      command(
        'replay',
        '[options] [id]',
        'rebuild the state of a session from its log',
        () => import('./look/replay.ts'),
      ),
      command(
        'verify',
        '[options] [id]',
        'check that the log of a session is intact',
        () => import('./look/verify.ts'),
      ),
      command(
        'trace',
        '[options] [id]',
        'print the trace of a plan: each node, its call, how it ended and why',
        () => import('./look/trace.ts'),
      ),
      command(
        'export',
        '[options] [id]',
        'send the traces of a session to OpenTelemetry: `export --otlp URL|FILE`',
        () => import('./look/export.ts'),
      ),
    ],
  },
  {
    heading: 'Tools:',
    commands: [
      command(
        'list',
        '[options]',
        'list the tools that a run can call, with their owners and effects',
        () => import('./tools/list.ts'),
      ),
      command(
        'check',
        '[options] [dir]',
        'check a folder of tool files without running them',
        () => import('./tools/check.ts'),
      ),
      command(
        'try',
        '[options] <file>',
        'check one tool file, call its tool, and show what a model would see',
        () => import('./tools/try.ts'),
      ),
      command(
        'new',
        '[options] <kind> <name>',
        'create a tool file, a plugin or a pack that passes its own checks',
        () => import('./tools/new.ts'),
      ),
      command(
        'lock',
        '[options]',
        'lock the current tools, plugins and packs, or check them against the lock',
        () => import('./tools/lock.ts'),
      ),
    ],
  },
  {
    heading: 'Plan:',
    commands: [
      command(
        'plan',
        '[options] <request>',
        'compile a request into a plan; `plan run` runs one, `plan check` checks one',
        () => import('./plan/plan.ts'),
      ),
    ],
  },
  {
    heading: 'Policies:',
    commands: [
      command(
        'policy',
        '',
        'compare policies on recorded sessions: `policy diff`, `policy observed`',
        () => import('./policies/policy.ts'),
      ),
      command('pack', '', 'test a policy pack with its cases: `pack check`', () => import('./policies/pack.ts')),
    ],
  },
  {
    heading: 'Set up:',
    commands: [
      command(
        'config',
        '[options]',
        'print the configuration, with the origin of each value',
        () => import('./set-up/config.ts'),
      ),
      command(
        'plugins',
        '[options]',
        'list installed plugins and packs, and which of them are in force',
        () => import('./set-up/plugins.ts'),
      ),
      command(
        'explain',
        '[options] <name>',
        'show the plugin, file and version behind a name',
        () => import('./set-up/explain.ts'),
      ),
      command(
        'doctor',
        '[options]',
        'check Node.js, packages, model providers, tools, plugins, workspace and isolation',
        () => import('./set-up/doctor.ts'),
      ),
      command('trust', '[options] [dir]', 'trust the code in a folder', () => import('./set-up/trust.ts')),
      command(
        'overrides',
        '[options] <action> <module>',
        'override the texts of a prompt, and show which overrides are in force',
        () => import('./set-up/overrides.ts'),
      ),
      command(
        'model',
        '',
        'download and remove local language models: `model list`, `model pull`, `model remove`',
        () => import('./set-up/model.ts'),
      ),
    ],
  },
];
