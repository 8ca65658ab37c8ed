/** What the recording has not, and why, for views that are empty by it. */
import { absences } from '../../../analysis/core/absences.ts';
import { answerOf } from './context.ts';

export const absenceQueries = { absences: answerOf(absences) };
