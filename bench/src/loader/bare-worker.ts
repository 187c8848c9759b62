// As bare-process.ts, in a thread: text arrives and leaves as messages.
import { parentPort } from 'node:worker_threads';
import { answer } from './bare-answer.ts';

parentPort?.on('message', (text: string) => parentPort?.postMessage(JSON.stringify(answer(JSON.parse(text)))));
