import { Command, MemorySaver } from '@langchain/langgraph';
import { ChatOpenAI } from '@langchain/openai';
import {
  createAgent,
  createMiddleware,
  humanInTheLoopMiddleware,
  ToolMessage,
  tool,
  toolErrorMiddleware,
} from 'langchain';
import { z } from 'zod';

export const name = 'LangGraph with LangChain';
export const packages = ['@langchain/langgraph', 'langchain'];
export const without = {};

const tellErrors = toolErrorMiddleware({ onError: (error) => String(error) });
const broken = createMiddleware({
  name: 'Broken',
  wrapToolCall() {
    throw new Error('Broken.');
  },
});
const asks = humanInTheLoopMiddleware({ interruptOn: { save: true } });

export async function run({ save, rule, deadlineMs }, { url }, stored) {
  const saving = tool(
    async ({ text }, { toolCallId }) => {
      const staged = [];
      const content = await save(text, (added) => staged.push(added));
      const messages = [new ToolMessage({ content, tool_call_id: toolCallId })];
      return new Command({ update: staged.length > 0 ? { staged, messages } : { messages } });
    },
    { name: 'save', description: 'Save a text.', schema: z.object({ text: z.string() }) },
  );
  const checkpointer = Object.assign(new MemorySaver(), stored);
  const agent = createAgent({
    model: new ChatOpenAI({ model: 'gpt-5', apiKey: 'none', maxRetries: 0, configuration: { baseURL: url } }),
    tools: [saving],
    middleware: [tellErrors, ...(rule === 'throws' ? [broken] : []), ...(rule === 'asks' ? [asks] : [])],
    stateSchema: z.object({ staged: z.array(z.string()).default([]) }),
    checkpointer,
  });
  if (deadlineMs) agent.graph.stepTimeout = deadlineMs;
  const approved = new Command({ resume: { decisions: [{ type: 'approve' }] } });
  const input = stored ? approved : { messages: [{ role: 'user', content: 'Go.' }] };
  const { staged } = await agent.invoke(input, { configurable: { thread_id: 'monday' } });
  return { staged, waiting: structuredClone({ storage: checkpointer.storage, writes: checkpointer.writes }) };
}
