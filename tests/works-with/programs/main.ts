import process from 'node:process';
import { runProgram } from './all.ts';

console.log(await runProgram(process.argv[2]));
