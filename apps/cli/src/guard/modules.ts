import { HoldfastError } from '@holdfast/core';
import { parseJson } from '@holdfast/core/internal';

// Some agents have no hooks but load modules of a person's. Ours starts the same hook as elsewhere for each event, and passes the event on
// as it is: what it means is read there. It is plain JavaScript, needs nothing but Node.js's own modules, and does nothing when it is
// loaded that could fail: one agent drops a module that fails then, and goes on without it.

/** The first line of a module of ours. */
const head = (agent: string): string =>
  `// Written by \`holdfast guard install ${agent}\`; \`holdfast guard uninstall ${agent}\` removes it.`;

const shared = `import { spawn } from 'node:child_process';

// Resolves where the hook lets a call through; rejects with the reason where it denies it or does not end well.
function ask(event) {
  return new Promise((resolve, reject) => {
    const failed = (why) => reject(new Error("Holdfast's hook failed, so the call is denied: " + why));
    const child = spawn(command[0], command.slice(1), { stdio: ['pipe', 'pipe', 'pipe'] });
    const timer = setTimeout(() => {
      failed('it did not end in time');
      child.kill('SIGKILL');
    }, 10_000);
    let out = '';
    let err = '';
    child.stdout.setEncoding('utf8').on('data', (text) => { out += text; });
    child.stderr.setEncoding('utf8').on('data', (text) => { err += text; });
    child.stdin.on('error', () => {});
    child.once('error', (error) => failed(error.message));
    child.once('close', (code) => {
      clearTimeout(timer);
      if (code === 0 && out === '') return resolve();
      try {
        reject(new Error(JSON.parse(out).reason));
      } catch {
        failed(err.trim() || 'exit code ' + code);
      }
    });
    child.stdin.end(JSON.stringify(event));
  });
}

// A call has run when it is reported: its result is not kept back. A call that could not be reported stays open in the log.
function report(event) {
  return ask(event).catch(() => {});
}
`;

const bodies: Readonly<Record<string, string>> = {
  opencode: `
export const Holdfast = async ({ client, directory }) => {
  let servers = [];
  const parents = new Map();
  const seen = new Set();

  // A sub-agent has a session of its own.
  async function parentOf(id) {
    if (!parents.has(id)) {
      const { data } = await client.session.get({ path: { id } });
      if (!data) throw new Error("Holdfast cannot find the session of this call, so it is denied.");
      parents.set(id, data.parentID);
    }
    return parents.get(id);
  }

  async function told(hook_event_name, event) {
    let session_id = event.sessionID;
    for (let parent; (parent = await parentOf(session_id)); ) session_id = parent;
    seen.add(session_id);
    const sub_agent_id = session_id === event.sessionID ? undefined : event.sessionID;
    return { hook_event_name, session_id, sub_agent_id, cwd: directory, mcp_servers: servers, event };
  }

  const tell = (name) => (input, output) =>
    told(name, { ...input, ...output }).then(report, () => {});
  return {
    config: async ({ mcp }) => {
      servers = Object.keys(mcp ?? {});
    },
    // An exception blocks the call.
    'tool.execute.before': async (input, output) => {
      await ask(await told('tool.execute.before', { ...input, ...output }));
    },
    'tool.execute.after': tell('tool.execute.after'),
    'chat.message': tell('chat.message'),
    dispose: async () => {
      const end = (session_id) => ({ hook_event_name: 'dispose', session_id, cwd: directory, event: {} });
      await Promise.all([...seen].map((id) => report(end(id))));
    },
  };
};
`,
  pi: `
const told = (hook_event_name, event, ctx) => ({
  hook_event_name,
  session_id: ctx.sessionManager.getSessionId(),
  cwd: ctx.cwd,
  event,
});

export default function (pi) {
  // An exception blocks the call.
  pi.on('tool_call', async (event, ctx) => {
    await ask(told('tool_call', event, ctx));
  });
  for (const name of ['tool_result', 'input', 'session_shutdown'])
    pi.on(name, async (event, ctx) => {
      await report(told(name, event, ctx));
    });
}
`,
};

export function isModule(agent: string): boolean {
  return Object.hasOwn(bodies, agent);
}

/** The module that starts a hook by `words`. */
function toModule(agent: string, words: readonly string[]): string {
  return `${head(agent)}\nconst command = ${JSON.stringify([...words, agent])};\n\n${shared}${bodies[agent] ?? ''}`;
}

/** The same module for a package, in which the hook's file lies at `file`. It runs the Node.js of the agent's `PATH`. */
export function toPackageModule(agent: string, file: string): string {
  const command = `["node", fileURLToPath(new URL(${JSON.stringify(`./${file}`)}, import.meta.url)), ${JSON.stringify(agent)}]`;
  return `// Written by \`holdfast guard plugins\`.
import { fileURLToPath } from 'node:url';
${shared.replace('\n\n', `\n\nconst command = ${command};\n\n`)}${bodies[agent] ?? ''}`;
}

/** The words with which a module of ours starts its hook; `undefined` for any other text. */
export function readModule(text: string | undefined, agent: string): readonly string[] | undefined {
  const [first, second = ''] = (text ?? '').split('\n');
  const parsed = parseJson(/^const command = (\[.*\]);$/.exec(second)?.[1] ?? '');
  if (first !== head(agent) || !parsed.ok || !Array.isArray(parsed.value)) return undefined;
  return parsed.value.slice(0, -1).map(String);
}

/**
 * The module that starts a hook by `words`; without `words`: nothing, since the whole file is ours.
 *
 * @throws HoldfastError `settings.invalid` for a file that is not ours; it is left alone.
 */
export function editModule(text: string | undefined, agent: string, words: readonly string[] | undefined): string {
  if (text !== undefined && readModule(text, agent) === undefined) {
    const message = `The file in which the module for ${agent} goes is not of Holdfast. Move it away, then try again.`;
    throw new HoldfastError('settings.invalid', message, { data: { agent } });
  }
  return words === undefined ? '' : toModule(agent, words);
}
