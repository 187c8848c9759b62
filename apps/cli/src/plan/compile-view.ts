import type { CompileEvent } from '@holdfast/orchestrator';
import { createLogUpdate } from 'log-update';
import { formatCount, formatDuration } from '../calls/line.ts';
import { createColors } from '../terminal/colors.ts';
import { describeTerminal, type Host } from '../terminal/host.ts';
import { fitColumns, toPrintable } from '../terminal/text.ts';

/** Tells on stderr, while a planner is asked, how far it is. */
export interface CompileView {
  show(event: CompileEvent): void;
  /** Takes away what was only for the moment. */
  close(): void;
}

const frameMs = 100;

/** `planner`: its id, for people. */
export function createCompileView(planner: string, { stderr, environment, clock }: Host): CompileView {
  const { color, live, columns } = describeTerminal(stderr, environment);
  const colors = createColors(color);
  const update = live ? createLogUpdate(stderr) : undefined;
  let asked: { readonly round: number; readonly atMs: number } | undefined;
  let wrong = 0;
  let cancelFrame: (() => void) | undefined;

  const print = (text: string): void => {
    const line = fitColumns(toPrintable(text), Math.min(columns, 400) - 1);
    if (update === undefined) stderr.write(`${line}\n`);
    else update.persist(colors.dim(line));
  };
  const draw = (): void => {
    cancelFrame?.();
    if (asked === undefined || update === undefined) return;
    const words = `asking ${planner} for a plan${asked.round > 1 ? `, round ${asked.round}` : ''}`;
    const line = fitColumns(toPrintable(words), columns - 12);
    update(`${colors.cyan(line)}  ${colors.dim(formatDuration(Math.max(0, clock.now() - asked.atMs)))}`);
    cancelFrame = clock.after(frameMs, draw);
  };

  return {
    show(event) {
      switch (event.type) {
        case 'planner-asked':
          if (wrong > 0) print(`${formatCount(wrong, 'thing')} wrong with the plan of ${planner}: asking again`);
          else if (update === undefined && event.round === 1) print(`asking ${planner} for a plan`);
          wrong = 0;
          asked = { round: event.round, atMs: clock.now() };
          draw();
          break;
        case 'planner-failed':
          print(`${planner} could not be asked: ${event.message}`);
          break;
        case 'planner-answered':
          wrong = event.violations.length;
          asked = undefined;
          cancelFrame?.();
          update?.clear();
          break;
        default:
          event satisfies never;
      }
    },
    close() {
      asked = undefined;
      cancelFrame?.();
      update?.clear();
      update?.done();
    },
  };
}
