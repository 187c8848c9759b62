import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { generateText, isStepCount, type LanguageModel, Output, tool } from 'ai';
import { usage } from '../call-path/ai-sdk-script.ts';
import { argumentsText, inputSchema, makeForecast, toolDescription, toolName } from '../call-path/forecast.ts';
import { type Advice, instruction, outputSchema, question } from './advice.ts';

const schema = toStandardJsonSchema(outputSchema);
const toolSchema = toStandardJsonSchema(inputSchema);

type LanguageModelV4 = Extract<LanguageModel, { readonly specificationVersion: 'v4' }>;

/** A loop of the AI SDK with `calls` calls, a message each, and an output of the same schema, prepared to run once. */
export function prepareSdk(calls: number): () => Promise<Advice> {
  let asked = 0;
  const model: LanguageModelV4 = {
    specificationVersion: 'v4',
    provider: 'bench',
    modelId: 'script',
    supportedUrls: {},
    async doGenerate() {
      asked += 1;
      if (asked > calls) {
        const text = '{"advice":"Take a light one, for the evening.","jacket":true}';
        return {
          content: [{ type: 'text', text }],
          finishReason: { unified: 'stop', raw: undefined },
          usage,
          warnings: [],
        };
      }
      const content = [{ type: 'tool-call' as const, toolCallId: `call-${asked}`, toolName, input: argumentsText }];
      return { content, finishReason: { unified: 'tool-calls', raw: undefined }, usage, warnings: [] };
    },
    doStream() {
      throw new Error('`generateText` does not stream');
    },
  };
  const forecast = tool({ description: toolDescription, inputSchema: toolSchema, execute: makeForecast });
  return async () => {
    const { output, steps } = await generateText({
      model,
      ...(calls > 0 ? { tools: { [toolName]: forecast } } : {}),
      stopWhen: isStepCount(calls + 1),
      output: Output.object({ schema }),
      instructions: instruction,
      prompt: question,
    });
    if (steps.length !== calls + 1) throw new Error(`\`ai\` took ${steps.length} steps`);
    return output;
  };
}
