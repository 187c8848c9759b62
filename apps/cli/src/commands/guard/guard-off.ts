import type { Command } from 'commander';
import type { CommandContext } from '../../flags/command.ts';
import { readCount } from '../../flags/values.ts';
import { readOff, switchOff, switchOn } from '../../guard/off.ts';
import { requirePerson } from '../../guard/person.ts';
import type { Host } from '../../terminal/host.ts';
import { printLines } from '../../terminal/print.ts';
import type { GuardHost } from '../../user/guard-folder.ts';

const minuteMs = 60_000;

const offHelp = `
Calls still go through the hook and into the log, with what the policies would have answered. What protects the guard itself stays in
force. Needs a terminal, outside of an agent.`;

export function declareSwitches(guard: Command, { host, end }: CommandContext): void {
  guard
    .command('off')
    .description('let every call through for a while')
    .option('--minutes <count>', 'for how long, up to a day', readCount, 60)
    .addHelpText('after', offHelp)
    .action(async ({ minutes }: { readonly minutes: number }) => {
      requirePerson('switch a guard off', host);
      await letThrough(minutes, host);
      end(0);
    });
  guard
    .command('on')
    .description('end `guard off`')
    .action(async () => {
      printLines(host, [(await switchOn(host)) ? 'The guard is on.' : 'The guard was on already.']);
      end(0);
    });
}

/** Switches the guard off, up to a day, and says until when. */
export async function letThrough(minutes: number, host: Host): Promise<void> {
  const untilMs = host.clock.now() + Math.min(minutes, 24 * 60) * minuteMs;
  await switchOff(untilMs, host);
  printLines(host, [describeOff(untilMs, host)]);
}

/** `undefined`: it is on. */
export function describeSwitch(host: GuardHost & Pick<Host, 'clock' | 'command'>): string | undefined {
  const untilMs = readOff(host, host.clock.now());
  return untilMs === undefined ? undefined : describeOff(untilMs, host);
}

function describeOff(untilMs: number, { clock, command }: Pick<Host, 'clock' | 'command'>): string {
  const minutes = Math.ceil((untilMs - clock.now()) / minuteMs);
  const until = new Date(untilMs).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });
  return `The guard is off until ${until} (${minutes} min): calls are recorded, none is denied. To end this: ${command} guard on`;
}
