import { runAgent } from '@holdfast/executor';
import { loadTools } from '@holdfast/loader';
import { python } from '@holdfast/loader-python';
import { createPrompt, markdownSection } from '@holdfast/prompt';
import { createSession } from '@holdfast/session';
import { parseScript, scriptedModel } from '@holdfast/testing';

// A host that does nothing but run a script with the tools of a folder. It does not close them: idle processes must not keep it alive.
const [folder = '', script = ''] = process.argv.slice(2);
const { tools } = await loadTools(folder, { languages: [python()] });
const prompt = createPrompt({
  ns: 'tests',
  key: 'keep-alive',
  sections: [markdownSection({ title: 'Tools', template: 'Use them.', tools })],
});
const run = runAgent({
  model: scriptedModel(parseScript(script, 'the script')),
  prompt: prompt.bind({}),
  session: createSession(),
  input: 'Begin.',
});
for await (const event of run) if (event.type === 'tool-call-end') console.log(JSON.stringify(event));
console.log(JSON.stringify({ type: 'run-end', status: (await run.result).status }));
