export {
  type ThumbResponse,
  type UseThumbSurveyOptions,
  type UseThumbSurveyResult,
  useThumbSurvey,
} from '../hooks/useThumbSurvey.ts';
