// Plays Claude Code for the Claude Agent SDK: its control protocol, and the calls of a script (JSON, in the environment).
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const { calls, mode, supportsBlock } = JSON.parse(process.env['SCRIPT'] ?? '{}');
const seen = process.env['SEEN'] ?? '';
const say = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);
const answers = new Map();
let hooks = {};
let next = 0;

const ask = (request) =>
  new Promise((resolve) => {
    next += 1;
    const id = `ask-${next}`;
    answers.set(id, resolve);
    say({ type: 'control_request', request_id: id, request });
  });

const base = { session_id: 's-1', transcript_path: '/t', cwd: process.cwd(), permission_mode: mode };

/** All callbacks of an event; as Claude Code does, an error blocks where the matcher says so. */
async function fire(event, input, id) {
  let output = {};
  for (const { hookCallbackIds = [], onFailure } of hooks[event] ?? [])
    for (const callback_id of hookCallbackIds) {
      const told = { ...base, hook_event_name: event, ...input };
      const answer = await ask({ subtype: 'hook_callback', callback_id, input: told, tool_use_id: id });
      if (answer.subtype === 'error' && onFailure === 'block') return { blocked: answer.error };
      output = answer.response?.hookSpecificOutput ?? output;
    }
  return output;
}

async function run() {
  await fire('UserPromptSubmit', { prompt: 'Go.' });
  for (const [index, { name, input, fails }] of calls.entries()) {
    const id = `toolu_${index}`;
    const call = { tool_name: name, tool_input: input, tool_use_id: id };
    const decided = await fire('PreToolUse', call, id);
    let ran = input;
    let no = decided.blocked ?? (decided.permissionDecision === 'deny' ? decided.permissionDecisionReason : undefined);
    if (decided.permissionDecision === 'ask') {
      const { response } = await ask({ subtype: 'can_use_tool', tool_name: name, input, tool_use_id: id });
      if (response.behavior === 'deny') no = response.message;
      else ran = response.updatedInput ?? input;
    }
    appendFileSync(seen, `${JSON.stringify(no === undefined ? { ran } : { no })}\n`);
    if (no !== undefined) continue;
    const done = { ...call, tool_input: ran };
    if (fails) await fire('PostToolUseFailure', { ...done, error: 'It failed.' }, id);
    else await fire('PostToolUse', { ...done, tool_response: 'done' }, id);
  }
  await fire('SessionEnd', { reason: 'other' });
  say({ type: 'result', subtype: 'success', is_error: false, result: 'Finished.', session_id: 's-1', num_turns: 1 });
}

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  if (message.type === 'control_request') {
    if (message.request.subtype === 'initialize') hooks = message.request.hooks ?? {};
    const response = {
      commands: [],
      agents: [],
      models: [],
      account: {},
      output_style: 'default',
      available_output_styles: [],
      hooks_applied: true,
      ...(supportsBlock === false ? {} : { hook_on_failure_supported: true }),
    };
    say({ type: 'control_response', response: { subtype: 'success', request_id: message.request_id, response } });
  } else if (message.type === 'control_response') {
    answers.get(message.response.request_id)?.(message.response);
  } else if (message.type === 'user') {
    void run();
  }
}
