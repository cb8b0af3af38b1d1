export {
  type ThumbResponse,
  type ThumbSurveyPosition,
  type UseThumbSurveyOptions,
  type UseThumbSurveyResult,
  useThumbSurvey,
} from '../hooks/useThumbSurvey.ts';
