/** What the recording lacks, and why, for views that are empty because of it. */
import { absences } from '../../../analysis/core/absences.ts';
import { answerOf } from './context.ts';

export const absenceQueries = { absences: answerOf(absences) };
