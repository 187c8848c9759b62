// A model in the AI SDK's own form. Its client for OpenAI gives the second call of one id another id; other clients do not.
import { convertArrayToReadableStream, MockLanguageModelV4 } from 'ai/test';

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: 1, reasoning: undefined },
};

export function scriptedModel({ calls, requests }) {
  const next = ({ prompt }) => {
    const isFirst = requests.length === 0;
    requests.push(
      prompt.flatMap(({ role, content }) =>
        role === 'tool' ? content.map(({ output }) => ({ role, content: output })) : [{ role, content }],
      ),
    );
    const made = calls.map(({ id, name, arguments: input }) => ({
      ...{ type: 'tool-call', toolCallId: id, toolName: name, input },
    }));
    const finishReason = { unified: isFirst ? 'tool-calls' : 'stop', raw: undefined };
    return { content: isFirst ? made : [{ type: 'text', text: 'Done.' }], finishReason, usage };
  };
  return new MockLanguageModelV4({
    doGenerate: async (options) => ({ ...next(options), warnings: [] }),
    async doStream(options) {
      const { content, ...end } = next(options);
      const text = (delta) => [
        { type: 'text-start', id: '1' },
        { type: 'text-delta', id: '1', delta },
        { type: 'text-end', id: '1' },
      ];
      const parts = content.flatMap((part) => (part.type === 'text' ? text(part.text) : [part]));
      return { stream: convertArrayToReadableStream([...parts, { type: 'finish', ...end }]) };
    },
  });
}
