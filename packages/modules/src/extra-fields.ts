import type { ModuleDefinition } from './module-definition.ts';

/** Names beside those of the signature. */
export interface ExtraNames {
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
}

const none: ExtraNames = { inputs: [], outputs: [] };
const reasoning: ExtraNames = { inputs: [], outputs: ['reasoning'] };
// Of DSPy: `dspy/predict/react.py` of stanfordnlp/dspy.
const step: ExtraNames = { inputs: ['trajectory'], outputs: ['next_thought', 'next_tool_name', 'next_tool_args'] };

/** The fields that a predictor has beside those of its signature. */
export function extraNamesOf({ predictor_type: predictorType }: ModuleDefinition): ExtraNames {
  if (predictorType === 'react') return step;
  return predictorType === 'chain_of_thought' ? reasoning : none;
}

/** As `extraNamesOf`, with the fields by which a tool loop tells of tools and is asked for calls: demos may show them. */
export function extraNamesOfDemos(definition: ModuleDefinition): ExtraNames {
  const { inputs, outputs } = extraNamesOf(definition);
  if (!definition.tool_enabled || definition.predictor_type === 'react') return { inputs, outputs };
  return { inputs: [...inputs, 'available_tools', 'context'], outputs: [...outputs, 'tool_call'] };
}

/** Of the second step of a `react` module. */
export const extraNamesOfExtraction: ExtraNames = { inputs: ['trajectory'], outputs: ['reasoning'] };
