export default {;}
