/** One step of the text protocol: what the model thought and called, and what came of it. */
export interface Step {
  readonly thought: string;
  readonly toolName: string;
  /** As the model wrote them. */
  readonly toolArgs: string;
  readonly observation: string;
}

/**
 * The steps as a model is shown them. Numbers stay what they were when older steps are left out.
 *
 * Source of the structure: DSPy `dspy/predict/react.py`, as of version 3.0: `thought_0`, `tool_name_0`, `tool_args_0`, `observation_0`,
 * and the headers of its chat format.
 */
export function renderTrajectory(steps: readonly Step[], leftOut = 0): string {
  return steps
    .slice(leftOut)
    .flatMap(({ thought, toolName, toolArgs, observation }, index) => {
      const at = leftOut + index;
      return [
        renderField(`thought_${at}`, thought),
        renderField(`tool_name_${at}`, toolName),
        renderField(`tool_args_${at}`, toolArgs),
        renderField(`observation_${at}`, observation.replaceAll(header, '[\\u005b')),
      ];
    })
    .join('\n\n');
}

/** In what a tool says, the header of a step is broken up: it cannot pass for another step. */
const header = /\[\[(?=\s*#+\s*(?:thought|tool_name|tool_args|observation)[_ ]\d)/giu;

function renderField(name: string, text: string): string {
  return `[[ ## ${name} ## ]]\n${text}`;
}
