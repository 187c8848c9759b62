import { describeThrown } from '@holdfast/core/internal';
import type { Guard } from '../decide/types.ts';
import { type Agent, type HookAnswer, type HookInput, refuse, silent } from './agent.ts';

/**
 * One run of a hook: reads what the agent says, asks the guard of its session, and answers. Never rejects; where it cannot decide, a
 * call that has not run is denied.
 */
export async function runHook(
  agent: Agent,
  text: string,
  openGuard: (input: HookInput) => Promise<Guard>,
): Promise<HookAnswer> {
  let decides = true;
  try {
    const input = agent.readHook(text);
    const { event } = input;
    decides = event.type === 'before';
    if (event.type === 'other') return silent;
    const guard = await openGuard(input);
    switch (event.type) {
      case 'before':
        return agent.answer(await guard.before(event.call), event.call);
      case 'after':
        await guard.after(event.call, event.report);
        return silent;
      case 'prompt':
        await guard.prompt(event.request);
        return silent;
      case 'end':
        await guard.end();
        return silent;
    }
  } catch (thrown) {
    const reason = `Holdfast could not decide this call, so it is denied: ${describeThrown(thrown)}`;
    // To refuse a report would hide the result of a call that has run; it stays unreported.
    return decides ? refuse(reason) : { ...silent, stderr: `${reason}\n` };
  }
}
