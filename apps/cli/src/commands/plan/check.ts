import { formatCount } from '@holdfast/orchestrator/text';
import { describeStyle } from '../../calls/line.ts';
import { adviseOnTools } from '../../plan/problems.ts';
import { openWorkshop } from '../../plan/setup.ts';
import { readPlanText } from '../../plan/source.ts';
import { describeAsks, describeViolations, describeWarnings } from '../../plan/view.ts';
import type { WorkPlace } from '../../run/open.ts';
import type { ExitCode } from '../../terminal/failure.ts';
import type { Host } from '../../terminal/host.ts';
import { toJsonText } from '../../terminal/json.ts';
import { toPrintable } from '../../terminal/text.ts';
import { checkFor } from './run.ts';

export interface CheckPlanFileOptions extends WorkPlace {
  /** The path; `-`: standard input. */
  readonly file: string;
}

/**
 * Lists everything wrong with the plan in a file. Returns 1 if anything is. Runs no tool code except schemas and locks.
 *
 * @throws HoldfastError `usage.*`, and as `openWorkshop`.
 */
export async function checkPlanFile(options: CheckPlanFileOptions, host: Host): Promise<ExitCode> {
  const { file, json } = options;
  const text = await readPlanText(file, host);
  return await openWorkshop(options, { stdinTaken: file === '-' }, host, async (workshop) => {
    const found = await checkFor(text, workshop, options.allow);
    const style = describeStyle(host);
    const { colors } = style;
    const print = (lines: readonly string[]): void => void host.stdout.write(`${lines.join('\n')}\n`);
    if (found.type === 'declined') {
      const { error } = found;
      print(
        json
          ? [toJsonText({ valid: false, error, violations: [], warnings: [], asks: [] }, 2)]
          : [`${colors.yellow('declined')}  No plan: ${toPrintable(error)}`],
      );
      return 1;
    }
    const { warnings } = found;
    if (found.type === 'invalid') {
      const { violations } = found;
      print(
        json
          ? [toJsonText({ valid: false, violations, warnings, asks: [] }, 2)]
          : [
              ...describeViolations(violations, style),
              ...describeWarnings(warnings, style),
              ...adviseOnTools(violations, workshop.equipment),
              '',
              `${colors.red('invalid')}  ${formatCount(violations.length, 'violation')}`,
            ],
      );
      return 1;
    }
    const { checked, asks } = found;
    const { digest, plan } = checked;
    const nodes = plan.nodes.length;
    print(
      json
        ? [toJsonText({ valid: true, digest, nodes, violations: [], warnings, asks }, 2)]
        : [
            `${colors.green('valid')}  ${formatCount(nodes, 'node')}`,
            `digest ${digest}`,
            ...describeAsks(asks, style),
            ...describeWarnings(warnings, style),
          ],
    );
    return 0;
  });
}
